// log: the natural logarithm, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef log = {
    .name = "log",
    .doc = "y = natural logarithm of x; -infinity at 0, NaN below",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Log", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::log(x); }>,
    .pointwise = emit_unary<task::PointOp::kLog>,
    .cases = kPositiveCases,
};

}  // namespace tw::ops
