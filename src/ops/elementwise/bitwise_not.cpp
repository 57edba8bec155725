// bitwise_not: turns each bit over.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef bitwise_not = {
    .name = "bitwise_not",
    .doc = "y = ~x, bit by bit",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"BitwiseNot", 18}},

    .infer = infer_unary<kInts>,
    .reference = map_unary_bits<[](uint64_t x) { return ~x; }>,
    .pointwise = emit_unary<task::PointOp::kBitNot>,
    .cases = {"i32[16,256]", "i64[7]", "u8[2,0]", "u16[1]", "i8{-128,-1,127}", "u64[3]", "u32[5]"},
};

}  // namespace tw::ops
