// celu: the continuously differentiable exponential linear unit.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef celu = {
    .name = "celu",
    .doc = "y = max(0, x) + min(0, alpha * (exp(x / alpha) - 1))",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"alpha", 1.0}},
    .onnx = {{"Celu", 12}},

    .infer = infer_unary<kFloats>,
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const double alpha = c.attr_float("alpha");
      return map_with(c, [=](double x) {
        return larger_number(x, 0.0) + smaller_number(alpha * std::expm1(x / alpha), 0.0);
      });
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      c.set_out(c.emit(task::PointOp::kCelu, c.in_type(0).dtype, c.in(0), 0, 0,
                       static_cast<float>(c.attr_float("alpha"))));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32[1]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "f32{-9,-3,-1,-0.5,0,0.5,1,3,9} ; alpha=0.25"},
};

}  // namespace tw::ops
