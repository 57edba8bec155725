// reciprocal: one over x, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef reciprocal = {
    .name = "reciprocal",
    .doc = "y = 1 / x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Reciprocal", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return 1 / x; }>,
    .pointwise = emit_unary<task::PointOp::kReciprocal>,
    .cases = kPositiveCases,
};

}  // namespace tw::ops
