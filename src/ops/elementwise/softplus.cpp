// softplus: a smooth relu, written so that large x does not overflow.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef softplus = {
    .name = "softplus",
    .doc = "y = log(1 + exp(x))",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Softplus", 1}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) {
      return larger_number(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
    }>,
    .pointwise = emit_unary<task::PointOp::kSoftplus>,
    .cases = {"f32[1,64,768]", "f32{-100,-20,0,20,100}", "f32[3,0,2]", "f32[1]", "f64[3,5]",
              "f16[5,7]", "bf16[9]"},
};

}  // namespace tw::ops
