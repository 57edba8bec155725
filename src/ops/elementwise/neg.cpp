// neg: the negative; integers wrap.
#include "ops/elementwise/common_ints.h"
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef neg = {
    .name = "neg",
    .doc = "y = -x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Neg", 6}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(infer_unary<kNumbers>(c));
      const DType dtype = c.in(0).dtype;
      propagate_ints(c, [dtype](std::span<const Dim> x) -> std::optional<Dim> {
        if (!x[0].is_constant()) return Dim(0) - x[0];
        return Dim(wrap_int(dtype, subtract_numbers(int64_t{0}, x[0].constant())));
      });
      return {};
    },
    .reference = map_unary<[](auto x) {
      if constexpr (std::is_floating_point_v<decltype(x)>)
        return -x;
      else
        return subtract_numbers(decltype(x){0}, x);
    }>,
    .pointwise = emit_unary<task::PointOp::kNeg>,
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "i32{-5,0,7}", "i8{-128,-1,127}", "i64[3]"},
};

}  // namespace tw::ops
