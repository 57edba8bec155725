// ceil: rounding up, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef ceil = {
    .name = "ceil",
    .doc = "y = smallest integer not below x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Ceil", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::ceil(x); }>,
    .pointwise = emit_unary<task::PointOp::kCeil>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
