// gather_elements: y has the index's dims; one coordinate of each element comes from the index.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_move.h"
#include "ops/shape/common_reach.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const int64_t axis = TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  if (!is_signed_int(c.in(1).dtype))
    return error(Code::kInvalidModel, "'index' is ", c.in(1).dtype, ", expected i32 or i64");
  if (c.rank(1) != c.rank(0))
    return error(Code::kInvalidModel, "'index' has rank ", c.rank(1), ", expected ", c.rank(0),
                 " as 'x'");
  c.out(0, {c.in(0).dtype, c.shape(1)});
  return expect_reach(c, axis);
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const size_t axis = wrapped_axis(c.attr_int("axis"), x.dims().size());
  const StridedView from = whole_view(x.dims());
  Result<void> status;
  for_each_coordinate(index.dims(), [&](const Dims& at, int64_t i) {
    const auto taken = wrapped_index(index.int_at(i), x.dims()[axis], "'index'");
    if (!taken.ok()) {
      status = taken.error();
      return;
    }
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d)
      element += (d == axis ? taken.value() : at[d]) * from.strides[d];
    copy_elements(x, element, c.out(0), i);
  });
  return status;
}

Result<void> lower(LowerContext& c) {
  const size_t axis = wrapped_axis(c.attr_int("axis"), c.in_type(0).shape.size());
  c.emit(task::GatherTask{.x = {c.in(0)},
                          .index = {c.in(1)},
                          .y = {c.out(0)},
                          .kind = task::GatherTask::Kind::kElements,
                          .axis = static_cast<int8_t>(axis)});
  return {};
}

}  // namespace

extern constinit const ir::OpDef gather_elements = {
    .name = "gather_elements",
    .doc = "y[i, j, ..] = x[i, index[i, j, ..], ..], the index standing at axis",
    .inputs = {"x", "index"},
    .outputs = {"y"},
    .attrs = {{"axis", 0}},
    .onnx = {{"GatherElements", 11}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] i64[3,7]<5 ; axis=1", "f32[5,3] i32[2,3]<5", "i64[7] i64{-1,0,-7}",
              "f32[3,0] i64[3,0] ; axis=1", "f32[2,3,4] i64[1,3,2]<4 ; axis=-1",
              "f16[9,1] i64[4,1]<9", "f32[1,300,91] i64[1,300,4]<91 ; axis=2"},
};

}  // namespace tw::ops
