// equal: tells equal elements; NaN equals nothing.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef equal = {
    .name = "equal",
    .doc = "y = a == b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Equal", 7}},

    .infer = infer_comparison<kAnyType, [](auto a, auto b) { return a == b; }, equal_to>,
    .reference = map_binary<[](auto a, auto b) { return a == b; }>,
    .pointwise = emit_binary<task::PointOp::kEqual>,
    .cases = {"i64[1,64,128]<2 i64[128]<2", "f32[7] f32[7]", "f32[2,0] f32[1]",
              "f32{1,2,3} f32{1,5,3}", "f16{1,2} f16{1,3}", "bf16{1,2} bf16{2,2}",
              "i32[3,5]<3 i32[5]<3", "u8[5]<2 u8[5]<2", "bool[4,1] bool[1,3]", "f64[3] f64[3]",
              "u64{18446744073709549568} u64{1}"},
};

}  // namespace tw::ops
