// selu: the self-normalising exponential linear unit.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef selu = {
    .name = "selu",
    .doc = "y = gamma * x where x > 0, else gamma * alpha * (exp(x) - 1)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"alpha", 1.67326319217681884765625}, {"gamma", 1.05070102214813232421875}},
    .onnx = {{"Selu", 6}},

    .infer = infer_unary<kFloats>,
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const double alpha = c.attr_float("alpha");
      const double gamma = c.attr_float("gamma");
      return map_with(c, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      c.set_out(c.emit(task::PointOp::kSelu, c.in_type(0).dtype, c.in(0), 0, 0,
                       static_cast<float>(c.attr_float("alpha")),
                       static_cast<float>(c.attr_float("gamma"))));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32[1]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "f32{-9,-3,-1,-0.5,0,0.5,1,3,9} ; alpha=0.25 gamma=1.5"},
};

}  // namespace tw::ops
