// scatter_elements: x with single elements replaced or combined; one coordinate of each comes from
// the index.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_move.h"
#include "ops/shape/common_reach.h"
#include "ops/shape/common_scatter.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const int64_t axis = TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  TRY(combine_of(c));
  if (!is_signed_int(c.in(1).dtype))
    return error(Code::kInvalidModel, "'index' is ", c.in(1).dtype, ", expected i32 or i64");
  if (c.in(2).dtype != c.in(0).dtype)
    return error(Code::kInvalidModel, "'updates' is ", c.in(2).dtype, ", expected ", c.in(0).dtype,
                 " as 'x'");
  if (c.rank(1) != c.rank(0) || c.rank(2) != c.rank(0))
    return error(Code::kInvalidModel, "'index' and 'updates' have ranks ", c.rank(1), " and ",
                 c.rank(2), ", expected ", c.rank(0));
  for (size_t d = 0; d < c.shape(1).size(); ++d)
    TRY(same_dim(c.shape(1)[d], c.shape(2)[d], cat("dim ", d, " of 'updates'")));
  c.out(0, c.in(0));
  return expect_reach(c, axis);
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const size_t axis = wrapped_axis(c.attr_int("axis"), x.dims().size());
  const StridedView to = whole_view(x.dims());
  ScatterReference y(x, TRY(combine_of(c)));
  Result<void> status;
  for_each_coordinate(index.dims(), [&](const Dims& at, int64_t i) {
    const auto place = wrapped_index(index.int_at(i), x.dims()[axis], "'index'");
    if (!place.ok()) {
      status = place.error();
      return;
    }
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d)
      element += (d == axis ? place.value() : at[d]) * to.strides[d];
    y.put(element, c.in(2), i);
  });
  y.store(c.out(0));
  return status;
}

Result<void> lower(LowerContext& c) {
  task::ScatterTask task;
  task.kind = task::ScatterTask::Kind::kElements;
  task.combine = TRY(combine_of(c));
  task.axis = static_cast<int8_t>(wrapped_axis(c.attr_int("axis"), c.in_type(0).shape.size()));
  emit_scatter(c, task);
  return {};
}

}  // namespace

extern constinit const ir::OpDef scatter_elements = {
    .name = "scatter_elements",
    .doc =
        "y = x, then y[i, index[i, j, ..], ..] = updates[i, j, ..] (or combined by reduction), the "
        "index standing at axis",
    .inputs = {"x", "index", "updates"},
    .outputs = {"y"},
    .attrs = {{"axis", 0}, {"reduction", "none"}},
    .onnx = {{"Scatter", 9}, {"ScatterElements", 11}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] i64[2,3]<3 f32[2,3]",
              "f32[5,7] i64[5,9]<7 f32[5,9] ; axis=1 reduction=\"add\"",
              "i64[7] i64{-1,2,-1} i64[3] ; reduction=\"mul\"", "f32[4] i64[0] f32[0]",
              "i32[5] i32[9]<5 i32[9] ; reduction=\"max\"",
              "f32[1,3] i64[1,3]<1 f32[1,3] ; reduction=\"min\"",
              "f32[1,300,91] i64[1,300,1]<91 f32[1,300,1] ; axis=-1"},
};

}  // namespace tw::ops
