// sinh: the hyperbolic sine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef sinh = {
    .name = "sinh",
    .doc = "y = hyperbolic sine of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Sinh", 9}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::sinh(x); }>,
    .pointwise = emit_unary<task::PointOp::kSinh>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
