// pow: a power. Base and exponent may differ in type; the result has the base's. Integers to an
// integer power are exact.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {
namespace {

/// base^exponent modulo 2^64; a negative exponent gives what 1 / base^-exponent truncates to.
template <class T>
T integer_power(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == T{1}) return T{1};
    if (std::is_signed_v<T> && base == static_cast<T>(-1)) return exponent % 2 == 0 ? T{1} : base;
    return T{0};
  }
  T power{1};
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power = multiply_numbers(power, base);
    base = multiply_numbers(base, base);
  }
  return power;
}

}  // namespace

extern constinit const ir::OpDef pow = {
    .name = "pow",
    .doc = "y = a ^ b in the type of a",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Pow", 7}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kNumbers));
      TRY(expect_type(c, 1, kNumbers));
      c.out(0, {c.in(0).dtype, TRY(broadcast_inputs(c))});
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const Tensor& a = c.in(0);
      const Tensor& b = c.in(1);
      const Dims to = c.out(0).dims();
      const bool exact = is_int(a.dtype()) && is_int(b.dtype());
      for (int64_t i = 0; i < c.out(0).count(); ++i) {
        const int64_t at_a = broadcast_index(to, a.dims(), i);
        const int64_t at_b = broadcast_index(to, b.dims(), i);
        if (!exact)
          c.out(0).set_float(i, std::pow(a.float_at(at_a), b.float_at(at_b)));
        else if (is_signed_int(a.dtype()))
          c.out(0).set_int(i, integer_power(a.int_at(at_a), b.int_at(at_b)));
        else
          write_number(c.out(0), i, integer_power(read_number<uint64_t>(a, at_a), b.int_at(at_b)));
      }
      return {};
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const DType a = c.in_type(0).dtype;
      const DType b = c.in_type(1).dtype;
      const bool through_float = is_int(a) && is_float(b);
      const DType common = through_float ? b : a;
      const uint8_t base = through_float ? c.cast(c.in(0), a, common) : c.in(0);
      const uint8_t exponent = b == common ? c.in(1) : c.cast(c.in(1), b, common);
      const uint8_t power = c.emit(task::PointOp::kPow, common, base, exponent);
      c.set_out(through_float ? c.cast(power, common, a) : power);
      return {};
    },
    .cases = {"f32[1,64,768]>0 f32[768]", "f32[7]>0 f32[7]", "f32[2,0] f32[1]", "f32[3,5] f32(2)",
              "f32[4,1]>0 f32[1,3]", "f64[3]>0 f64[3]", "f16[5,7]>0 f16(0.5)", "bf16[9]>0 bf16(3)",
              "f32{1,-2,3} i64{2,3,0}", "i32{1,-2,3,-1} i32{2,3,30,-3}", "i64{3,7} i64(3)",
              "i32{1,2,9} f32{2,0.5,0.5}", "u8{3,2} u8{2,9}"},
};

}  // namespace tw::ops
