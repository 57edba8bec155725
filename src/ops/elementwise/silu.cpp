// silu: x times its sigmoid, also called swish. ONNX's Swish scales the sigmoid's argument by
// alpha.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef silu = {
    .name = "silu",
    .doc = "y = x / (1 + exp(-x))",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Swish", 24,
              [](ir::ImportContext& c) -> Result<void> {
                const double alpha = c.attr_float("alpha", 1);
                c.attrs().erase("alpha");
                if (alpha == 1) {
                  c.set_out(0, TRY(c.b().op("silu", {c.in(0)})));
                  return {};
                }
                const ir::ValueId factor = c.b().scalar(c.value(0).type.dtype, alpha);
                const ir::ValueId scaled = TRY(c.b().op("mul", {c.in(0), factor}));
                const ir::ValueId gate = TRY(c.b().op("sigmoid", {scaled}));
                c.set_out(0, TRY(c.b().op("mul", {c.in(0), gate})));
                return {};
              }}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return x / (1 + std::exp(-x)); }>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const ir::ValueId gate = TRY(c.b().op("sigmoid", {c.in(0)}));
      c.set_out(0, TRY(c.b().op("mul", {c.in(0), gate})));
      return {};
    },
    .pointwise = emit_unary<task::PointOp::kSilu>,
    .cases = {"f32[1,64,768]", "f32{-100,-3,0,3,100}", "f32[3,0,2]", "f32[1]", "f64[3,5]",
              "f16[5,7]", "bf16[9]"},
};

}  // namespace tw::ops
