// round: to the nearest integer, halves to the even one.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef round = {
    .name = "round",
    .doc = "y = nearest integer of x, halves to the even one",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Round", 11}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::nearbyint(x); }>,
    .pointwise = emit_unary<task::PointOp::kRound>,
    .cases = {"f32[1,64,768]", "f32{-2.5,-1.5,-0.5,0.5,1.5,2.5,0.1}", "f32[3,0,2]", "f32[1]",
              "f64[3,5]", "f16[5,7]", "bf16[9]"},
};

}  // namespace tw::ops
