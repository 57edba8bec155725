// max: the largest of any number of tensors, with broadcasting; NaN where any is.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef max = {
    .name = "max",
    .doc = "y = max(xs...)",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .onnx = {{"Max", 8}},

    .infer = infer_extremum<larger_dim>,
    .reference = map_variadic<[](auto a, auto b) { return larger_number(a, b); }>,
    .pointwise = emit_variadic<task::PointOp::kMax>,
    .cases = kExtremumCases,
};

}  // namespace tw::ops
