// lanes.h: elements of any type in the three lanes that the CPU computes in: f32 (and every
// narrower float), f64, i64 (and every narrower integer and bool). Rules of conversion: floats
// round to nearest even; float to integer truncates, saturates, and takes NaN to 0; integer to
// integer wraps; anything but 0 is true.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/cpu/kernels/kernels.h"
#include "base/dtype.h"
#include "base/half.h"

namespace tw::cpu {

/// dst[i] = the element at src + i * stride_bytes. A stride of 0 repeats one element.
template <class Lane>
void load_lane(const Kernels& kernels, DType dtype, const std::byte* src, int64_t stride_bytes,
               int64_t n, Lane* dst);
/// The element at dst + i * stride_bytes = src[i].
template <class Lane>
void store_lane(const Kernels& kernels, DType dtype, const Lane* src, int64_t n, std::byte* dst,
                int64_t stride_bytes);

/// `value` truncated into To, at its ends where it lies outside, 0 for NaN.
template <class To, class From>
To saturate(From value) {
  static_assert(std::is_integral_v<To> && std::is_floating_point_v<From>);
  if (value != value) return 0;
  // The upper end rounds up to a power of two, which is itself outside.
  if (value >= static_cast<From>(std::numeric_limits<To>::max())) {
    return std::numeric_limits<To>::max();
  }
  if (value <= static_cast<From>(std::numeric_limits<To>::min())) {
    return std::numeric_limits<To>::min();
  }
  return static_cast<To>(value);
}

/// How an element type is stored and what it means: `Bits` in memory, `Value` in computations.
template <class T>
struct Plain {
  using Bits = T;
  using Value = T;
  static T get(T bits) { return bits; }
  static T put(T value) { return value; }
};
struct F16 {
  using Bits = uint16_t;
  using Value = float;
  static float get(Bits bits) { return f16_to_f32(bits); }
  static Bits put(float value) { return f32_to_f16(value); }
};
struct BF16 {
  using Bits = uint16_t;
  using Value = float;
  static float get(Bits bits) { return bf16_to_f32(bits); }
  static Bits put(float value) { return f32_to_bf16(value); }
};
struct F8E4M3 {
  using Bits = uint8_t;
  using Value = float;
  static float get(Bits bits) { return f8e4m3_to_f32(bits); }
  static Bits put(float value) { return f32_to_f8e4m3(value); }
};
struct F8E5M2 {
  using Bits = uint8_t;
  using Value = float;
  static float get(Bits bits) { return f8e5m2_to_f32(bits); }
  static Bits put(float value) { return f32_to_f8e5m2(value); }
};
struct Bool {
  using Bits = uint8_t;
  using Value = bool;
  static bool get(Bits bits) { return bits != 0; }
  static Bits put(bool value) { return value ? 1 : 0; }
};

/// f(Element{}) for the element type above that `dtype` names.
template <class F>
decltype(auto) with_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF32:
      return f(Plain<float>{});
    case DType::kF64:
      return f(Plain<double>{});
    case DType::kF16:
      return f(F16{});
    case DType::kBF16:
      return f(BF16{});
    case DType::kF8E4M3:
      return f(F8E4M3{});
    case DType::kF8E5M2:
      return f(F8E5M2{});
    case DType::kI8:
      return f(Plain<int8_t>{});
    case DType::kI16:
      return f(Plain<int16_t>{});
    case DType::kI32:
      return f(Plain<int32_t>{});
    case DType::kI64:
      return f(Plain<int64_t>{});
    case DType::kU8:
      return f(Plain<uint8_t>{});
    case DType::kU16:
      return f(Plain<uint16_t>{});
    case DType::kU32:
      return f(Plain<uint32_t>{});
    case DType::kU64:
      return f(Plain<uint64_t>{});
    case DType::kBool:
      break;
  }
  return f(Bool{});
}

/// From one computed value to another, by the rules above.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// The value after a round trip through `dtype`: what storing it as that type and reading it gives.
template <class Lane>
Lane through(DType dtype, Lane value) {
  return with_element(dtype, [&]<class Element>(Element) {
    using Value = typename Element::Value;
    return convert<Lane>(Element::get(Element::put(convert<Value>(value))));
  });
}

/// Whether elements of `dtype` are stored as the lane computes them.
template <class Lane>
bool is_lane(DType dtype) {
  if constexpr (std::is_same_v<Lane, float>) return dtype == DType::kF32;
  if constexpr (std::is_same_v<Lane, double>) return dtype == DType::kF64;
  return std::is_same_v<Lane, int64_t> && (dtype == DType::kI64 || dtype == DType::kU64);
}

}  // namespace tw::cpu
