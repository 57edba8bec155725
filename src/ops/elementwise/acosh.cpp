// acosh: the inverse hyperbolic cosine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef acosh = {
    .name = "acosh",
    .doc = "y = inverse hyperbolic cosine of x; NaN below 1",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Acosh", 9}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::acosh(x); }>,
    .pointwise = emit_unary<task::PointOp::kAcosh>,
    .cases = {"f32{1,1.5,2,10,1000}", "f32[3,0]", "f32(1)", "f32[1,7]>0", "f64{1,3}",
              "f16{1,1.25,7}", "bf16{2,5,9}"},
};

}  // namespace tw::ops
