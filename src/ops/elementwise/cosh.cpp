// cosh: the hyperbolic cosine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef cosh = {
    .name = "cosh",
    .doc = "y = hyperbolic cosine of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Cosh", 9}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::cosh(x); }>,
    .pointwise = emit_unary<task::PointOp::kCosh>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
