// convert.cpp: blocks from one number format to another. Where no instruction does the work the
// loops are plain and free of branches, for the compiler to make vectors of.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {
namespace {

uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

float float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

void f32_to_bf16(const float* x, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = bits_of(x[i]);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t quiet_nan = (bits >> 16) | 0x40u;
    y[i] = uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? quiet_nan : rounded);
  }
}

void bf16_to_f32(const uint16_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = float_of(uint32_t{x[i]} << 16);
}

#if defined(__F16C__)

void f32_to_f16(const float* x, uint16_t* y, int64_t n) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), kNearest);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), half);
  }
  for (; i < n; ++i) {
    y[i] = uint16_t(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(x[i]), kNearest), 0));
  }
}

void f16_to_f32(const uint16_t* x, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    _mm256_storeu_ps(y + i, _mm256_cvtph_ps(half));
  }
  for (; i < n; ++i) y[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(x[i])));
}

#else

/// The bits that the F16C instruction gives.
uint16_t half_of(float x) {
  const uint32_t bits = bits_of(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return uint16_t(sign | 0x7e00u | ((size >> 13) & 0x3ffu));
  if (size >= 0x477ff000u) return uint16_t(sign | 0x7c00u);  // rounds past the largest half
  if (size < 0x38800000u) {
    // Subnormal: adding 1/2 leaves the half's bits, rounded, at the bottom of the sum.
    return uint16_t(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)));
  }
  const uint32_t rounded = size + 0xfffu + ((size >> 13) & 1u);
  return uint16_t(sign | ((rounded - 0x38000000u) >> 13));
}

float float_of_half(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000u) << 16;
  const uint32_t size = uint32_t(half & 0x7fffu) << 13;
  if (size >= 0x0f800000u) {
    const uint32_t quiet = size > 0x0f800000u ? 0x400000u : 0u;
    return float_of(sign | 0x7f800000u | size | quiet);
  }
  // 2^112 moves the exponent to float's bias, subnormals included.
  return float_of(sign | bits_of(float_of(size) * 0x1p112f));
}

void f32_to_f16(const float* x, uint16_t* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = half_of(x[i]);
}

void f16_to_f32(const uint16_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = float_of_half(x[i]);
}

#endif

/// From floats or integers to floats: the conversion of the language, which rounds to nearest even.
template <class From, class To>
void convert(const From* x, To* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = To(x[i]);
}

/// Truncation, saturating; NaN gives 0. kLow and kPastHigh are floats exactly: the lowest value and
/// one past the highest.
template <class To>
void saturate(const float* x, To* y, int64_t n) {
  constexpr bool kSigned = To(-1) < To(0);
  constexpr int kBits = int(sizeof(To)) * 8 - (kSigned ? 1 : 0);
  constexpr float kPastHigh = float(uint64_t{1} << (kBits - 1)) * 2.0f;
  constexpr float kLow = kSigned ? -kPastHigh : 0.0f;
  constexpr To kHighest = To(~uint64_t{0} >> (64 - kBits));
  constexpr To kLowest = kSigned ? To(-kHighest - 1) : To(0);
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i];
    const bool inside = v > kLow && v < kPastHigh;
    const To value = To(inside ? v : 0.0f);
    y[i] = v >= kPastHigh ? kHighest : v <= kLow ? kLowest : value;
  }
}

}  // namespace

ConvertKernels convert_kernels() {
  return {.f32_to_f16 = f32_to_f16,
          .f32_to_bf16 = f32_to_bf16,
          .f16_to_f32 = f16_to_f32,
          .bf16_to_f32 = bf16_to_f32,
          .f32_to_f64 = convert<float, double>,
          .f64_to_f32 = convert<double, float>,
          .f32_to_i64 = saturate<int64_t>,
          .i64_to_f32 = convert<int64_t, float>,
          .f32_to_i32 = saturate<int32_t>,
          .i32_to_f32 = convert<int32_t, float>,
          .f32_to_u8 = saturate<uint8_t>,
          .u8_to_f32 = convert<uint8_t, float>,
          .f32_to_i8 = saturate<int8_t>,
          .i8_to_f32 = convert<int8_t, float>};
}

}  // namespace tw::cpu::TW_ISA
