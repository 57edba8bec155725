// or: true where either is.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef or_ = {
    .name = "or",
    .doc = "y = a or b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Or", 7}},

    .infer = infer_int_binary<kBools, [](auto a, auto b) { return a | b; },
                              [](const Dim& a, const Dim& b) -> std::optional<Dim> {
                                return max(a, b);
                              }>,
    .reference = map_binary_bits<[](uint64_t a, uint64_t b) { return a | b; }>,
    .pointwise = emit_binary<task::PointOp::kOr>,
    .cases = kBoolPairCases,
};

}  // namespace tw::ops
