// points.cuh: one device function an operation of elementwise programs (task/pointwise.h), named
// point_<operation> and overloaded on the lanes: float, double, int64_t. The meaning of each is
// that of the CPU backend.
#pragma once

// ---- conversions: floats round to nearest even; float to integer truncates, saturates and takes
// NaN to 0; integer to integer wraps; anything but 0 is true ----
template <class T>
constexpr bool kIsFloatLane = kSame<T, float> || kSame<T, double>;
template <class T>
constexpr bool kIsHalf = kSame<T, f16> || kSame<T, bf16>;

template <class To, class From>
TW_DEVICE To saturate(From x) {
  constexpr bool kSigned = static_cast<To>(-1) < static_cast<To>(0);
  constexpr int kBits = 8 * sizeof(To) - (kSigned ? 1 : 0);
  constexpr To kHighest = static_cast<To>(~uint64_t{0} >> (64 - kBits));
  constexpr To kLowest = kSigned ? static_cast<To>(-kHighest - 1) : static_cast<To>(0);
  if (x != x) return 0;
  // The upper end may round up to a power of two, which is itself outside.
  if (x >= static_cast<From>(kHighest)) return kHighest;
  return x <= static_cast<From>(kLowest) ? kLowest : static_cast<To>(x);
}

/// A computed value as an element of type T, as stores do it: f16 saturates.
template <class T, class V>
TW_DEVICE T to_element(V x) {
  if constexpr (kSame<T, bool>)
    return x != V{0};
  else if constexpr (kIsHalf<T>)
    return FromFloat<T>::of(static_cast<float>(x));
  else if constexpr (kIsFloatLane<V> && !kIsFloatLane<T>)
    return saturate<T>(x);
  else
    return static_cast<T>(x);
}

/// A round trip through T, in the lane of T. Unlike stores, a cast to f16 overflows to infinity.
template <class T, class V>
TW_DEVICE Lane<T> point_cast(V x) {
  if constexpr (kSame<T, f16>) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(static_cast<float>(x)));
    return to_float(y);
  } else {
    return to_lane(to_element<T>(x));
  }
}

/// An integer result wrapped to its type.
template <class T>
TW_DEVICE int64_t point_wrap(int64_t x) {
  return static_cast<int64_t>(static_cast<T>(x));
}

// ---- any lane ----
template <class T>
TW_DEVICE T point_copy(T x) {
  return x;
}
template <class T>
TW_DEVICE T point_where(int64_t condition, T yes, T no) {
  return condition != 0 ? yes : no;
}
template <class T>
TW_DEVICE int64_t point_equal(T a, T b) {
  return a == b ? 1 : 0;
}
template <class T>
TW_DEVICE int64_t point_not_equal(T a, T b) {
  return a != b ? 1 : 0;
}
template <class T>
TW_DEVICE int64_t point_less(T a, T b) {
  return a < b ? 1 : 0;
}
template <class T>
TW_DEVICE int64_t point_less_equal(T a, T b) {
  return a <= b ? 1 : 0;
}
template <class T>
TW_DEVICE int64_t point_greater(T a, T b) {
  return a > b ? 1 : 0;
}
template <class T>
TW_DEVICE int64_t point_greater_equal(T a, T b) {
  return a >= b ? 1 : 0;
}
/// NaN when either is NaN.
template <class T>
TW_DEVICE T point_min(T a, T b) {
  return a != a || a < b ? a : b;
}
template <class T>
TW_DEVICE T point_max(T a, T b) {
  return a != a || a > b ? a : b;
}
/// NaN stays.
template <class T>
TW_DEVICE T point_relu(T x) {
  return x < T{0} ? T{0} : x;
}
TW_DEVICE uint64_t point_relu(uint64_t x) { return x; }
template <class T>
TW_DEVICE T point_sign(T x) {
  return x > T{0} ? T{1} : x < T{0} ? static_cast<T>(-1) : x;
}
TW_DEVICE uint64_t point_sign(uint64_t x) { return x != 0 ? 1 : 0; }

// ---- integers and bools: arithmetic wraps; u64 operands come as uint64_t where it matters ----
TW_DEVICE int64_t point_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
TW_DEVICE int64_t point_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
TW_DEVICE int64_t point_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
TW_DEVICE int64_t point_neg(int64_t x) { return point_sub(0, x); }
TW_DEVICE int64_t point_abs(int64_t x) { return x < 0 ? point_neg(x) : x; }
TW_DEVICE uint64_t point_abs(uint64_t x) { return x; }

/// a / b truncated; 0 for a divisor of 0, and the one overflow wraps. Values of 32 bits, the usual
/// ones, take the short division.
TW_DEVICE int64_t point_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return point_neg(a);
  if (a == static_cast<int32_t>(a) && b == static_cast<int32_t>(b))
    return static_cast<int32_t>(a) / static_cast<int32_t>(b);
  return a / b;
}
TW_DEVICE uint64_t point_div(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }

/// The sign is the dividend's; 0 for a divisor of 0.
TW_DEVICE int64_t point_fmod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  if (a == static_cast<int32_t>(a) && b == static_cast<int32_t>(b))
    return static_cast<int32_t>(a) % static_cast<int32_t>(b);
  return a % b;
}
TW_DEVICE uint64_t point_fmod(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }
TW_DEVICE int64_t point_mod(int64_t a, int64_t b) {
  const int64_t rest = point_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
TW_DEVICE uint64_t point_mod(uint64_t a, uint64_t b) { return point_fmod(a, b); }

TW_DEVICE int64_t point_pow(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if ((e & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<int64_t>(result);
}

TW_DEVICE int64_t point_and(int64_t a, int64_t b) { return a != 0 && b != 0 ? 1 : 0; }
TW_DEVICE int64_t point_or(int64_t a, int64_t b) { return a != 0 || b != 0 ? 1 : 0; }
TW_DEVICE int64_t point_xor(int64_t a, int64_t b) { return (a != 0) != (b != 0) ? 1 : 0; }
TW_DEVICE int64_t point_not(int64_t x) { return x == 0 ? 1 : 0; }
TW_DEVICE int64_t point_bit_and(int64_t a, int64_t b) { return a & b; }
TW_DEVICE int64_t point_bit_or(int64_t a, int64_t b) { return a | b; }
TW_DEVICE int64_t point_bit_xor(int64_t a, int64_t b) { return a ^ b; }
TW_DEVICE int64_t point_bit_not(int64_t x) { return ~x; }
TW_DEVICE int64_t point_shift_left(int64_t a, int64_t b) {
  const uint64_t by = static_cast<uint64_t>(b);
  return by < 64 ? static_cast<int64_t>(static_cast<uint64_t>(a) << by) : 0;
}
TW_DEVICE int64_t point_shift_right(int64_t a, int64_t b) {
  const uint64_t by = static_cast<uint64_t>(b);
  return by < 64 ? a >> by : 0;
}
TW_DEVICE uint64_t point_shift_right(uint64_t a, uint64_t by) { return by < 64 ? a >> by : 0; }
TW_DEVICE int64_t point_clip(int64_t x, int64_t low, int64_t high) {
  const int64_t raised = x > low ? x : low;
  return raised < high ? raised : high;
}

#include "points_float.cuh"
