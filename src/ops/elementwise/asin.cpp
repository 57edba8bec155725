// asin: the arc sine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef asin = {
    .name = "asin",
    .doc = "y = arc sine of x; NaN outside [-1, 1]",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Asin", 7}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::asin(x); }>,
    .pointwise = emit_unary<task::PointOp::kAsin>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
