// sin: the sine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef sin = {
    .name = "sin",
    .doc = "y = sine of x radians",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Sin", 7}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::sin(x); }>,
    .pointwise = emit_unary<task::PointOp::kSin>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
