// exp: the exponential, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef exp = {
    .name = "exp",
    .doc = "y = e^x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Exp", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::exp(x); }>,
    .pointwise = emit_unary<task::PointOp::kExp>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
