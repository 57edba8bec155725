// squeeze: drops dims of size 1.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

/// The axes to drop: the input's, or all of size 1 when there is none.
Result<std::vector<size_t>> dropped_axes(const ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  if (c.has(1)) {
    const auto axes = c.constant_ints(1);
    if (!axes) return error(Code::kUnsupported, "'axes' follows from data, expected a constant");
    return distinct_axes(*axes, x.size(), "'axes'");
  }
  std::vector<size_t> axes;
  for (size_t d = 0; d < x.size(); ++d) {
    if (!x[d].is_constant())
      return error(Code::kUnsupported, "without 'axes' the rank depends on dim ", d, " of ",
                   dims_text(x), ", expected numbers");
    if (x[d] == Dim(1)) axes.push_back(d);
  }
  return axes;
}

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const std::vector<size_t> axes = TRY(dropped_axes(c));
  ir::Shape y;
  for (size_t d = 0; d < x.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end())
      y.push_back(x[d]);
    else if (x[d].is_constant() && x[d] != Dim(1))
      return error(Code::kInvalidModel, "dim ", d, " of 'x' ", dims_text(x), " is ", x[d],
                   ", expected 1");
  }
  c.out(0, {c.in(0).dtype, std::move(y)});
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

/// Up to opset 12 the axes are an attribute.
Result<void> import_axes_attr(ir::ImportContext& c) {
  std::vector<ir::ValueId> inputs = {c.in(0)};
  if (c.attrs().contains("axes")) inputs.push_back(c.b().ints(c.attr_ints("axes")));
  c.set_out(0, TRY(c.b().op("squeeze", inputs)));
  c.attrs().erase("axes");
  return {};
}

}  // namespace

extern constinit const ir::OpDef squeeze = {
    .name = "squeeze",
    .doc = "y = x without the dims in axes, which have size 1 (without axes: all of size 1)",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .onnx = {{"Squeeze", 1, import_axes_attr}, {"Squeeze", 13}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[1,3,1,5]", "f32[1,3,1,5] i64{-2}", "f32[1,0,1] i64{0,2}", "f32[1] i64{0}",
              "i64[1,1]", "f32[1,2048,1,1] i64{2,3}"},
};

}  // namespace tw::ops
