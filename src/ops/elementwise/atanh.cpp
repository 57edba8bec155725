// atanh: the inverse hyperbolic tangent, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef atanh = {
    .name = "atanh",
    .doc = "y = inverse hyperbolic tangent of x; NaN outside [-1, 1]",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Atanh", 9}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::atanh(x); }>,
    .pointwise = emit_unary<task::PointOp::kAtanh>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
