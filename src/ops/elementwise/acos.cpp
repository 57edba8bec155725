// acos: the arc cosine, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef acos = {
    .name = "acos",
    .doc = "y = arc cosine of x; NaN outside [-1, 1]",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Acos", 7}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::acos(x); }>,
    .pointwise = emit_unary<task::PointOp::kAcos>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
