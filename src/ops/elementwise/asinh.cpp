// asinh: the inverse hyperbolic sine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef asinh = {
    .name = "asinh",
    .doc = "y = inverse hyperbolic sine of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Asinh", 9}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::asinh(x); }>,
    .pointwise = emit_unary<task::PointOp::kAsinh>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
