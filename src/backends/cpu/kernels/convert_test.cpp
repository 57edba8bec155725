// convert_test.cpp: number formats, over all halves and a sample of all floats.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

double value_of_half(uint16_t half) {
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  const double size = exponent == 0    ? std::ldexp(fraction, -24)
                      : exponent == 31 ? (fraction != 0 ? double(kNan) : double(kInf))
                                       : std::ldexp(1024 + fraction, exponent - 25);
  return half & 0x8000 ? -size : size;
}

/// Whether `half` is the nearest to x, even on a tie: no neighbour is nearer, or as near with an
/// even last bit.
bool is_nearest_half(float x, uint16_t half) {
  if (std::isnan(x)) return std::isnan(value_of_half(half));
  if (std::signbit(x) != ((half & 0x8000) != 0)) return false;
  const int size = half & 0x7fff;
  const auto distance = [&](int h) {
    const double value = h == 0x7c00 ? 65536.0 : value_of_half(uint16_t(h));
    return std::fabs(value - std::min(std::fabs(double(x)), 65536.0));
  };
  for (const int other : {size - 1, size + 1}) {
    if (other < 0 || other > 0x7c00) continue;
    if (distance(other) < distance(size)) return false;
    if (distance(other) == distance(size) && size % 2 != 0) return false;
  }
  return size <= 0x7c00;
}

using ConvertTest = KernelTest;

TEST_P(ConvertTest, EveryHalfBecomesItsValueAndComesBack) {
  std::vector<uint16_t> halves(65536), back(65536);
  std::vector<float> floats(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = uint16_t(i);
  k().convert.f16_to_f32(halves.data(), floats.data(), 65536);
  k().convert.f32_to_f16(floats.data(), back.data(), 65536);
  for (size_t i = 0; i < halves.size(); ++i) {
    ASSERT_TRUE(same_bits(floats[i], float(value_of_half(halves[i])))) << i;
    ASSERT_EQ(back[i], std::isnan(floats[i]) ? halves[i] | 0x200 : halves[i]) << i;
  }
}

TEST_P(ConvertTest, FloatsRoundToTheNearestHalfAndBfloat) {
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 60013) {
    const float x = float_of(uint32_t(bits));
    uint16_t half, bfloat;
    float back;
    k().convert.f32_to_f16(&x, &half, 1);
    ASSERT_TRUE(is_nearest_half(x, half)) << x;
    k().convert.f32_to_bf16(&x, &bfloat, 1);
    k().convert.bf16_to_f32(&bfloat, &back, 1);
    if (std::isfinite(x) && std::isfinite(back)) {
      const double step = double(float_of(uint32_t(bfloat + 1) << 16)) - double(back);
      const double error = 2 * std::fabs(double(x) - double(back));
      ASSERT_LE(error, std::fabs(step)) << x;
      ASSERT_TRUE(error < std::fabs(step) || bfloat % 2 == 0) << x;
    } else {
      ASSERT_EQ(std::isnan(x), std::isnan(back)) << x;
    }
  }
}

TEST_P(ConvertTest, IntegersTruncateAndSaturate) {
  const Guarded<float> x = [] {
    const float values[] = {0.0f,          -0.9f,          1.9f,   -1.9f,   127.5f,  128.0f,
                            -128.9f,       -129.0f,        255.9f, 256.0f,  -1.0f,   2147483520.0f,
                            2147483648.0f, -2147483648.0f, -3e9f,  9.2e18f, 9.3e18f, -9.3e18f,
                            kInf,          -kInf,          kNan};
    Guarded<float> g(std::size(values));
    std::copy(std::begin(values), std::end(values), g.data());
    return g;
  }();
  const auto expect = [&](auto fn, auto zero) {
    using To = decltype(zero);
    Guarded<To> y(x.size());
    fn(x.data(), y.data(), x.size());
    EXPECT_TRUE(y.intact());
    for (int64_t i = 0; i < x.size(); ++i) {
      // Exact in long double, which holds every int64.
      const long double low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max();
      const To want =
          std::isnan(x[i]) ? To(0) : To(std::clamp<long double>(std::trunc(x[i]), low, high));
      EXPECT_EQ(y[i], want) << x[i];
    }
  };
  expect(k().convert.f32_to_i64, int64_t{});
  expect(k().convert.f32_to_i32, int32_t{});
  expect(k().convert.f32_to_u8, uint8_t{});
  expect(k().convert.f32_to_i8, int8_t{});
}

TEST_P(ConvertTest, WideningAndBackKeepsValues) {
  for (int64_t n = 0; n < 40; ++n) {
    const Guarded<float> x = random_floats(rng, n, -100, 100);
    Guarded<double> wide(n);
    Guarded<float> back(n), from_int(n);
    Guarded<int32_t> whole(n);
    Guarded<uint16_t> half(n), bfloat(n);
    k().convert.f32_to_f64(x.data(), wide.data(), n);
    k().convert.f64_to_f32(wide.data(), back.data(), n);
    k().convert.f32_to_i32(x.data(), whole.data(), n);
    k().convert.i32_to_f32(whole.data(), from_int.data(), n);
    k().convert.f32_to_f16(x.data(), half.data(), n);
    k().convert.f32_to_bf16(x.data(), bfloat.data(), n);
    ASSERT_TRUE(wide.intact() && back.intact() && whole.intact() && from_int.intact());
    ASSERT_TRUE(half.intact() && bfloat.intact());
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(back[i], x[i]);
      ASSERT_EQ(from_int[i], std::trunc(x[i]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, ConvertTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
