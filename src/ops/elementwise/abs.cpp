// abs: the absolute value; the smallest integer of a type stays what it is.
#include "ops/elementwise/common_ints.h"
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef abs = {
    .name = "abs",
    .doc = "y = |x|",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Abs", 6}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(infer_unary<kNumbers>(c));
      const DType dtype = c.in(0).dtype;
      propagate_ints(c, [dtype](std::span<const Dim> x) -> std::optional<Dim> {
        if (!x[0].is_constant()) return larger_dim(x[0], Dim(0) - x[0]);
        const int64_t value = x[0].constant();
        return Dim(wrap_int(dtype, value < 0 ? subtract_numbers(int64_t{0}, value) : value));
      });
      return {};
    },
    .reference = map_unary<[](auto x) {
      using T = decltype(x);
      if constexpr (std::is_floating_point_v<T>)
        return std::fabs(x);
      else
        return std::is_signed_v<T> && x < T{1} ? subtract_numbers(T{0}, x) : x;
    }>,
    .pointwise = emit_unary<task::PointOp::kAbs>,
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "i32{-5,0,7}", "i8{-128,-1,127}", "i64{-4,3}", "u8[5]"},
};

}  // namespace tw::ops
