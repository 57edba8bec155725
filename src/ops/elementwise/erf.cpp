// erf: the error function, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef erf = {
    .name = "erf",
    .doc = "y = error function of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Erf", 9}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::erf(x); }>,
    .pointwise = emit_unary<task::PointOp::kErf>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
