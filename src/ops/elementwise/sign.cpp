// sign: which side of 0 each element lies on.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef sign = {
    .name = "sign",
    .doc = "y = 1 where x > 0, -1 where x < 0, x itself (0 or NaN) elsewhere",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Sign", 9}},

    .infer = infer_unary<kNumbers>,
    .reference = map_unary<[](auto x) {
      using T = decltype(x);
      if (T{0} < x) return T{1};
      return std::is_signed_v<T> && x < T{1} && x != T{0} ? static_cast<T>(-1) : x;
    }>,
    .pointwise = emit_unary<task::PointOp::kSign>,
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32{-2,0,3}", "f64[3,5]", "f16[5,7]",
              "bf16[9]", "i32{-5,0,7}", "i8{-128,0,127}", "u8{0,1,255}"},
};

}  // namespace tw::ops
