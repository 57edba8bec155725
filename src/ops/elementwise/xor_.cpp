// xor: true where exactly one is.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef xor_ = {
    .name = "xor",
    .doc = "y = a xor b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Xor", 7}},

    .infer = infer_int_binary<kBools, [](auto a, auto b) { return a ^ b; },
                              [](const Dim& a, const Dim& b) -> std::optional<Dim> {
                                return a + b - Dim(2) * a * b;
                              }>,
    .reference = map_binary_bits<[](uint64_t a, uint64_t b) { return a ^ b; }>,
    .pointwise = emit_binary<task::PointOp::kXor>,
    .cases = kBoolPairCases,
};

}  // namespace tw::ops
