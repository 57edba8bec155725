// and: true where both are.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef and_ = {
    .name = "and",
    .doc = "y = a and b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"And", 7}},

    .infer =
        infer_int_binary<kBools, [](auto a, auto b) { return a & b; },
                         [](const Dim& a, const Dim& b) -> std::optional<Dim> { return a * b; }>,
    .reference = map_binary_bits<[](uint64_t a, uint64_t b) { return a & b; }>,
    .pointwise = emit_binary<task::PointOp::kAnd>,
    .cases = kBoolPairCases,
};

}  // namespace tw::ops
