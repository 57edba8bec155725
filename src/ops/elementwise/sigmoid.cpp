// sigmoid: the logistic function, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef sigmoid = {
    .name = "sigmoid",
    .doc = "y = 1 / (1 + exp(-x))",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Sigmoid", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return 1 / (1 + std::exp(-x)); }>,
    .pointwise = emit_unary<task::PointOp::kSigmoid>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
