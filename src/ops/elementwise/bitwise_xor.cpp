// bitwise_xor: xor of each bit.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef bitwise_xor = {
    .name = "bitwise_xor",
    .doc = "y = a ^ b, bit by bit",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"BitwiseXor", 18}},

    .infer = infer_broadcast<kInts>,
    .reference = map_binary_bits<[](uint64_t a, uint64_t b) { return a ^ b; }>,
    .pointwise = emit_binary<task::PointOp::kBitXor>,
    .cases = kIntPairCases,
};

}  // namespace tw::ops
