// flatten: a matrix of the dims before and behind an axis.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const auto rank = static_cast<int64_t>(x.size());
  const int64_t value = c.attr_int("axis");
  if (value < -rank || value > rank)
    return error(Code::kInvalidModel, "attribute 'axis' is ", value, ", expected ", -rank, " to ",
                 rank);
  const auto axis = static_cast<std::ptrdiff_t>(wrapped_axis(value, x.size()));
  c.out(0, {c.in(0).dtype,
            {ir::element_count({x.begin(), x.begin() + axis}),
             ir::element_count({x.begin() + axis, x.end()})}});
  keep_known(c);
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  c.set_out(0, c.in(0).reshaped(c.out(0).dims()));
  return {};
}

Result<void> lower(LowerContext& c) {
  c.set_out(0, c.reshape(c.in(0), c.out_type(0).shape));
  return {};
}

}  // namespace

extern constinit const ir::OpDef flatten = {
    .name = "flatten",
    .doc = "y[i, j]: i runs over the dims of x before axis, j over the others",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"axis", 1}},
    .onnx = {{"Flatten", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5,7]", "f32[3,5,7] ; axis=0", "f32[3,5,7] ; axis=3", "f32[2,0,4] ; axis=-1",
              "f32[] ; axis=0", "f32[1,2048,1,1]"},
};

}  // namespace tw::ops
