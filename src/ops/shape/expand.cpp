// expand: numpy's broadcast_to; the target may also be 1 where x is larger. One copy from a window
// with strides of 0.
#include "ir/op_def.h"
#include "ops/elementwise/common_types.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  if (c.rank(1) != 1)
    return error(Code::kInvalidModel, "'shape' has rank ", c.rank(1), ", expected 1");
  ir::Shape y;
  if (const auto target = known_elements(c, 1)) {
    y = TRY(broadcast_shapes(c.shape(0), *target));
  } else {
    const auto length = c.shape(1)[0].known();
    if (!length)
      return error(Code::kUnsupported, "the length of 'shape' is ", c.shape(1)[0],
                   ", expected a number");
    const int64_t rank = std::max(*length, c.rank(0));
    for (int64_t d = 0; d < rank; ++d) y.push_back(c.fresh_symbol());
  }
  move_known(c, 0, y,
             [&](const Dims& from) { return broadcast_to(whole_view(from), *ir::concrete(y)); });
  c.out(0, {c.in(0).dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  ir::Shape target;
  for (int64_t k = 0; k < c.in(1).count(); ++k) target.emplace_back(c.in(1).int_at(k));
  const ir::Shape y = TRY(broadcast_shapes(ir::to_shape(x.dims()), target));
  TRY(c.allocate(0, x.dtype(), *ir::concrete(y)));
  copy_view(x, broadcast_to(whole_view(x.dims()), c.out(0).dims()), c.out(0));
  return {};
}

/// y's dims at run time: where the target is 1, x's dim. Both stand at the end of y's rank, 1
/// before them.
task::SlotId dims_from_data(LowerContext& c) {
  const auto rank = static_cast<int64_t>(c.out_type(0).shape.size());
  std::vector<Dim> x = c.in_type(0).shape;
  x.insert(x.begin(), static_cast<size_t>(rank) - x.size(), Dim(1));
  const Dim length = c.in_type(1).shape[0];
  const task::SlotId target = int_temp(c, rank), sizes = int_temp(c, rank);
  Tensor one = Tensor::from_ints(std::vector<int64_t>{1});
  const Dim n_added = Dim(rank) - length;
  if (!(n_added == Dim(0))) emit_fill(c, one, c.slice(target, 0, 0, n_added));
  emit_copy(c, c.in(1), c.slice(target, 0, n_added, length));
  CodeWriter code(2);  // target, x
  const uint8_t repeats = code.ints(task::PointOp::kEqual, 0, code.literal(1));
  const uint8_t size = code.ints(task::PointOp::kWhere, repeats, 1, 0);
  emit_program(c, code.finish({size}), {target, dims_as_data(c, x)}, {sizes});
  return sizes;
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& y = c.out_type(0).shape;
  if (c.in_ints(1) == nullptr && !y.empty()) TRY(bind_fresh(c, y, dims_from_data(c)));
  const task::SlotId x = c.in(0);
  const ir::Shape from = c.dims(x);
  const std::vector<Dim> from_strides = c.strides(x);
  std::vector<Dim> strides(y.size(), Dim(0));
  const size_t n_added = y.size() - from.size();
  // A symbolic dim may turn out to be 1; the stride then follows it.
  for (size_t d = 0; d < from.size(); ++d)
    strides[n_added + d] = from[d] == y[n_added + d]
                               ? from_strides[d]
                               : select(from[d] - Dim(1), from_strides[d], Dim(0));
  set_out_window(c, 0, c.view(x, y, strides, c.offset(x)));
  return {};
}

}  // namespace

extern constinit const ir::OpDef expand = {
    .name = "expand",
    .doc = "y = x broadcast with a tensor of dims shape",
    .inputs = {"x", "shape"},
    .outputs = {"y"},
    .onnx = {{"Expand", 8}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,1] i64{2,1,6}", "f32[3,1] i64{3,4}", "f32[3,5] i64{1}", "f32[] i64{2,3}",
              "f32[1,4] i64{0,4}", "i64[1] i64{5}", "f32[1] i64[2]<5", "bool[1,7,1] i64{3,7,5}",
              "f32[1,1,1,128] i64{1,12,128,128}"},
};

}  // namespace tw::ops
