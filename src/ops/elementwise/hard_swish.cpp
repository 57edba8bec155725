// hard_swish: x times its hard sigmoid with slope 1/6 (MobileNet V3).
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef hard_swish = {
    .name = "hard_swish",
    .doc = "y = x * max(0, min(1, x / 6 + 0.5))",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"HardSwish", 14}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) {
      return x * larger_number(smaller_number(x / 6 + 0.5, 1.0), 0.0);
    }>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const ir::ValueId gate =
          TRY(c.b().op("hard_sigmoid", {c.in(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
      c.set_out(0, TRY(c.b().op("mul", {c.in(0), gate})));
      return {};
    },
    .pointwise = emit_unary<task::PointOp::kHardSwish>,
    .cases = {"f32[1,64,768]", "f32{-4,-3,-1,0,1,3,4}", "f32[3,0,2]", "f32[1]", "f64[3,5]",
              "f16[5,7]", "bf16[9]"},
};

}  // namespace tw::ops
