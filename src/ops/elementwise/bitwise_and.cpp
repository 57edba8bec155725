// bitwise_and: and of each bit.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef bitwise_and = {
    .name = "bitwise_and",
    .doc = "y = a & b, bit by bit",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"BitwiseAnd", 18}},

    .infer = infer_broadcast<kInts>,
    .reference = map_binary_bits<[](uint64_t a, uint64_t b) { return a & b; }>,
    .pointwise = emit_binary<task::PointOp::kBitAnd>,
    .cases = kIntPairCases,
};

}  // namespace tw::ops
