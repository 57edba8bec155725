// cos: the cosine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef cos = {
    .name = "cos",
    .doc = "y = cosine of x radians",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Cos", 7}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::cos(x); }>,
    .pointwise = emit_unary<task::PointOp::kCos>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
