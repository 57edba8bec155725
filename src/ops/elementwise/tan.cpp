// tan: the tangent, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef tan = {
    .name = "tan",
    .doc = "y = tangent of x radians",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Tan", 7}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::tan(x); }>,
    .pointwise = emit_unary<task::PointOp::kTan>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
