// sqrt: the square root, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef sqrt = {
    .name = "sqrt",
    .doc = "y = square root of x; NaN below 0",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Sqrt", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::sqrt(x); }>,
    .pointwise = emit_unary<task::PointOp::kSqrt>,
    .cases = kPositiveCases,
};

}  // namespace tw::ops
