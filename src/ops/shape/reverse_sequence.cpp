// reverse_sequence: each batch entry's first lengths[b] steps in reverse; a gather of computed
// coordinates.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const int64_t batch_axis = c.attr_int("batch_axis"), time_axis = c.attr_int("time_axis");
  if (c.rank(0) < 2)
    return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected at least 2");
  if (batch_axis < 0 || batch_axis > 1 || time_axis != 1 - batch_axis)
    return error(Code::kInvalidModel, "attributes 'batch_axis' and 'time_axis' are ", batch_axis,
                 " and ", time_axis, ", expected 0 and 1 in either order");
  if (c.rank(1) != 1 || !is_signed_int(c.in(1).dtype))
    return error(Code::kInvalidModel, "'lengths' is ", c.in(1), ", expected a list of i64");
  TRY(same_dim(c.shape(0)[static_cast<size_t>(batch_axis)], c.shape(1)[0],
               "the length of 'lengths'"));
  c.out(0, c.in(0));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  const auto batch = static_cast<size_t>(c.attr_int("batch_axis")),
             time = static_cast<size_t>(c.attr_int("time_axis"));
  for (int64_t b = 0; b < c.in(1).count(); ++b)
    if (c.in(1).int_at(b) > x.dims()[time])
      return error(Code::kInvalidArgument, "'lengths' holds ", c.in(1).int_at(b),
                   ", expected at most ", x.dims()[time]);
  const StridedView from = whole_view(x.dims());
  for_each_coordinate(x.dims(), [&](const Dims& at, int64_t i) {
    const int64_t length = c.in(1).int_at(at[batch]);
    const int64_t source = at[time] < length ? length - 1 - at[time] : at[time];
    copy_elements(x, i + (source - at[time]) * from.strides[time], c.out(0), i);
  });
  return {};
}

Result<void> lower(LowerContext& c) {
  using task::PointOp;
  const ir::Shape& x = c.in_type(0).shape;
  const auto batch = static_cast<size_t>(c.attr_int("batch_axis")),
             time = static_cast<size_t>(c.attr_int("time_axis"));
  ir::Shape lengths = {1, 1};
  lengths[batch] = x[batch];
  const task::SlotId coordinates = c.temp({DType::kI64, {x[0], x[1], 2}});

  CodeWriter code(1);  // lengths
  const uint8_t at = code.index(time), entry = code.index(batch);
  const uint8_t last = code.ints(PointOp::kSub, 0, code.literal(1));
  const uint8_t mirrored = code.ints(PointOp::kSub, last, at);
  const uint8_t source = code.ints(PointOp::kWhere, code.ints(PointOp::kLess, at, 0), mirrored, at);
  const task::PointProgram program =
      time == 0 ? code.finish({source, entry}) : code.finish({entry, source});
  const auto part = [&](int64_t k) {
    return c.view(coordinates, {x[0], x[1]}, {x[1] * Dim(2), Dim(2)},
                  c.offset(coordinates) + Dim(k));
  };
  emit_program(c, program, {c.reshape(c.in(1), lengths)}, {part(0), part(1)});
  c.emit(task::GatherTask{.x = {c.in(0)},
                          .index = {coordinates},
                          .y = {c.out(0)},
                          .kind = task::GatherTask::Kind::kNd});
  return {};
}

}  // namespace

extern constinit const ir::OpDef reverse_sequence = {
    .name = "reverse_sequence",
    .doc =
        "y[t, b, ..] = x[lengths[b] - 1 - t, b, ..] where t < lengths[b], else x[t, b, ..]; axes 0 "
        "and 1 in either order",
    .inputs = {"x", "lengths"},
    .outputs = {"y"},
    .attrs = {{"batch_axis", 1}, {"time_axis", 0}},
    .onnx = {{"ReverseSequence", 10}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[7,3] i64[3]<7", "f32[3,7,5] i64{1,7,4} ; batch_axis=0 time_axis=1",
              "i64[4,1] i64{3}", "f32[0,3] i64{0,0,0}", "f32[5,2,0] i64{2,5}",
              "f32[128,4,256] i64[4]<128"},
};

}  // namespace tw::ops
