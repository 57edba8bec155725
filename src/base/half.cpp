#include "base/half.h"

#include <bit>
#include <cmath>

namespace tw {
namespace {

/// The parts of a small float format: `kMantissa` bits below an exponent of `kExponent` bits with
/// bias 2^(kExponent-1)-1.
struct Format {
  int exponent, mantissa;
  bool has_infinity;
  double largest;  // finite
  int bias() const { return (1 << (exponent - 1)) - 1; }
};

constexpr Format kF16{5, 10, true, 65504.0};
constexpr Format kE4M3{4, 3, false, 448.0};
constexpr Format kE5M2{5, 2, true, 57344.0};

float decode(const Format& f, uint32_t bits) {
  const uint32_t sign = bits >> (f.exponent + f.mantissa);
  const int exponent = static_cast<int>((bits >> f.mantissa) & ((1U << f.exponent) - 1));
  const uint32_t mantissa = bits & ((1U << f.mantissa) - 1);
  const int top = (1 << f.exponent) - 1;
  float value = 0;
  if (exponent == top && f.has_infinity)
    value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == top && mantissa == (1U << f.mantissa) - 1)
    value = NAN;
  else if (exponent == 0)
    value = std::ldexp(static_cast<float>(mantissa), 1 - f.bias() - f.mantissa);
  else
    value = std::ldexp(static_cast<float>(mantissa | (1U << f.mantissa)),
                       exponent - f.bias() - f.mantissa);
  return sign != 0 ? -value : value;
}

uint32_t encode(const Format& f, float value, bool saturate) {
  const uint32_t sign = (std::signbit(value) ? 1U : 0U) << (f.exponent + f.mantissa);
  const uint32_t top = (1U << f.exponent) - 1;
  const uint32_t nan = (top << f.mantissa) | ((1U << f.mantissa) - 1);
  if (std::isnan(value)) return sign | nan;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) {
    if (!saturate) return sign | (top << f.mantissa);
    return encode(f, std::copysign(static_cast<float>(f.largest), value), saturate);
  }
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - f.bias()) exponent = 1 - f.bias();
  const double quantum = std::ldexp(1.0, exponent - f.mantissa);
  const double rounded = std::nearbyint(magnitude / quantum) * quantum;
  if (rounded > f.largest) {
    if (!saturate) return sign | (top << f.mantissa);
    return encode(f, std::copysign(static_cast<float>(f.largest), value), saturate);
  }
  if (rounded < std::ldexp(1.0, 1 - f.bias()))
    return sign | static_cast<uint32_t>(rounded / std::ldexp(1.0, 1 - f.bias() - f.mantissa));
  exponent = std::ilogb(rounded);
  const auto mantissa =
      static_cast<uint32_t>(rounded / std::ldexp(1.0, exponent - f.mantissa)) - (1U << f.mantissa);
  return sign | (static_cast<uint32_t>(exponent + f.bias()) << f.mantissa) | mantissa;
}

}  // namespace

float f16_to_f32(uint16_t bits) { return decode(kF16, bits); }
uint16_t f32_to_f16(float value) { return static_cast<uint16_t>(encode(kF16, value, false)); }
float f8e4m3_to_f32(uint8_t bits) { return decode(kE4M3, bits); }
uint8_t f32_to_f8e4m3(float value) { return static_cast<uint8_t>(encode(kE4M3, value, true)); }
float f8e5m2_to_f32(uint8_t bits) { return decode(kE5M2, bits); }
uint8_t f32_to_f8e5m2(float value) { return static_cast<uint8_t>(encode(kE5M2, value, true)); }

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40U);  // keep the sign, never become infinity
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace tw
