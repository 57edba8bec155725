// atan: the arc tangent, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef atan = {
    .name = "atan",
    .doc = "y = arc tangent of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Atan", 7}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::atan(x); }>,
    .pointwise = emit_unary<task::PointOp::kAtan>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
