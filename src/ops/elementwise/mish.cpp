// mish: x * tanh(softplus(x)).
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef mish = {
    .name = "mish",
    .doc = "y = x * tanh(log(1 + exp(x)))",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Mish", 18}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) {
      const double softplus = larger_number(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
      return x * std::tanh(softplus);
    }>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const ir::ValueId softplus = TRY(c.b().op("softplus", {c.in(0)}));
      const ir::ValueId gate = TRY(c.b().op("tanh", {softplus}));
      c.set_out(0, TRY(c.b().op("mul", {c.in(0), gate})));
      return {};
    },
    .pointwise = emit_unary<task::PointOp::kMish>,
    .cases = {"f32[1,64,768]", "f32{-100,-20,0,20,100}", "f32[3,0,2]", "f32[1]", "f64[3,5]",
              "f16[5,7]", "bf16[9]"},
};

}  // namespace tw::ops
