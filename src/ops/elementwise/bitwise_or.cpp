// bitwise_or: or of each bit.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef bitwise_or = {
    .name = "bitwise_or",
    .doc = "y = a | b, bit by bit",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"BitwiseOr", 18}},

    .infer = infer_broadcast<kInts>,
    .reference = map_binary_bits<[](uint64_t a, uint64_t b) { return a | b; }>,
    .pointwise = emit_binary<task::PointOp::kBitOr>,
    .cases = kIntPairCases,
};

}  // namespace tw::ops
