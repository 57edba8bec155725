// floor: rounding down, element by element.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef floor = {
    .name = "floor",
    .doc = "y = largest integer not above x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Floor", 6}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return std::floor(x); }>,
    .pointwise = emit_unary<task::PointOp::kFloor>,
    .cases = kFloatCases,
};

}  // namespace tw::ops
