// min: the smallest of any number of tensors, with broadcasting; NaN where any is.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef min = {
    .name = "min",
    .doc = "y = min(xs...)",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .onnx = {{"Min", 8}},

    .infer = infer_extremum<smaller_dim>,
    .reference = map_variadic<[](auto a, auto b) { return smaller_number(a, b); }>,
    .pointwise = emit_variadic<task::PointOp::kMin>,
    .cases = kExtremumCases,
};

}  // namespace tw::ops
