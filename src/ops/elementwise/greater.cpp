// greater: tells elements above another's.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef greater = {
    .name = "greater",
    .doc = "y = a > b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Greater", 7}},

    .infer = infer_comparison<kNumbers, [](auto a, auto b) { return b < a; },
                              [](const Dim& a, const Dim& b) -> std::optional<Dim> {
                                return less_than(b, a);
                              }>,
    .reference = map_binary<[](auto a, auto b) { return b < a; }>,
    .pointwise = emit_binary<task::PointOp::kGreater>,
    .cases = {"f32[1,64,768] f32[768]", "f32[7] f32[7]", "f32[2,0] f32[1]", "f32{1,2,3} f32{1,5,2}",
              "f16[5,3] f16[3]", "bf16[9] bf16[9]", "i32[3,5] i32[5]", "i64[4,1] i64[1,3]",
              "i8{-1,1} i8{1,-1}", "u8[5] u8[5]", "f64[3] f64[3]",
              "u64{18446744073709549568,1} u64{1,1}"},
};

}  // namespace tw::ops
