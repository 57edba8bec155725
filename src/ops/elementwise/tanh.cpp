// tanh: the hyperbolic tangent, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef tanh = {
    .name = "tanh",
    .doc = "y = hyperbolic tangent of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Tanh", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::tanh(x); }>,
    .pointwise = emit_unary<task::PointOp::kTanh>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
