// min: the smallest of any number of tensors, with broadcasting; NaN where any is.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef min = {
    .name = "min",
    .doc = "y = min(xs...)",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .onnx = {{"Min", 8}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(infer_broadcast<kNumbers>(c));
      const bool fits = c.in(0).dtype != DType::kU64;  // a Dim cannot hold the upper half of u64
      propagate_ints(c, [fits](std::span<const Dim> x) -> std::optional<Dim> {
        if (!fits) return std::nullopt;
        Dim value = x[0];
        for (size_t i = 1; i < x.size(); ++i) value = smaller_dim(value, x[i]);
        return value;
      });
      return {};
    },
    .reference = map_variadic<[](auto a, auto b) { return smaller_number(a, b); }>,
    .pointwise = emit_variadic<task::PointOp::kMin>,
    .cases = {"f32[1,64,768] f32[768]", "f32[7] f32[4,1,7] f32[1]", "f32[2,0] f32[1]", "f32[3]",
              "f32[] f32[5]", "f64[3] f64[3]", "f16[5,7] f16[7]", "bf16[9] bf16[9] bf16[9]",
              "i32[3,5] i32[5]", "i8{-1,1} i8{1,-1}", "u8[5] u8[5]",
              "u64{18446744073709549568,1} u64{1,2}"},
};

}  // namespace tw::ops
