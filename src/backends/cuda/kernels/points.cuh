// points.cuh: one device function an operation of elementwise programs (task/pointwise.h), named
// point_<operation> and overloaded on the lanes: float, double, int64_t. The meaning of each is
// that of the CPU backend; f32 functions are within a few ulp. Sums and products are rounded one by
// one (never contracted), so that an element's bits do not depend on what the compiler sees around
// it.
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

// ---- floats: arithmetic ----
TW_DEVICE float point_add(float a, float b) { return __fadd_rn(a, b); }
TW_DEVICE double point_add(double a, double b) { return __dadd_rn(a, b); }
TW_DEVICE float point_sub(float a, float b) { return __fsub_rn(a, b); }
TW_DEVICE double point_sub(double a, double b) { return __dsub_rn(a, b); }
TW_DEVICE float point_mul(float a, float b) { return __fmul_rn(a, b); }
TW_DEVICE double point_mul(double a, double b) { return __dmul_rn(a, b); }
TW_DEVICE float point_div(float a, float b) { return __fdiv_rn(a, b); }
TW_DEVICE double point_div(double a, double b) { return __ddiv_rn(a, b); }
TW_DEVICE float point_fmod(float a, float b) { return fmodf(a, b); }
TW_DEVICE double point_fmod(double a, double b) { return fmod(a, b); }
TW_DEVICE float point_pow(float a, float b) { return powf(a, b); }
TW_DEVICE double point_pow(double a, double b) { return pow(a, b); }
TW_DEVICE float point_neg(float x) { return -x; }
TW_DEVICE double point_neg(double x) { return -x; }
TW_DEVICE float point_abs(float x) { return fabsf(x); }
TW_DEVICE double point_abs(double x) { return fabs(x); }

/// The remainder with the sign of the divisor.
template <class T>
TW_DEVICE T point_mod_float(T a, T b) {
  const T rest = point_fmod(a, b);
  return rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest;
}
TW_DEVICE float point_mod(float a, float b) { return point_mod_float(a, b); }
TW_DEVICE double point_mod(double a, double b) { return point_mod_float(a, b); }

// ---- floats: functions ----
TW_DEVICE float point_exp(float x) { return expf(x); }
TW_DEVICE double point_exp(double x) { return exp(x); }
TW_DEVICE float point_expm1(float x) { return expm1f(x); }
TW_DEVICE double point_expm1(double x) { return expm1(x); }
TW_DEVICE float point_log(float x) { return logf(x); }
TW_DEVICE double point_log(double x) { return log(x); }
TW_DEVICE float point_log1p(float x) { return log1pf(x); }
TW_DEVICE double point_log1p(double x) { return log1p(x); }
TW_DEVICE float point_sqrt(float x) { return __fsqrt_rn(x); }
TW_DEVICE double point_sqrt(double x) { return __dsqrt_rn(x); }
TW_DEVICE float point_rsqrt(float x) { return rsqrtf(x); }
TW_DEVICE double point_rsqrt(double x) { return __ddiv_rn(1.0, __dsqrt_rn(x)); }
TW_DEVICE float point_reciprocal(float x) { return __frcp_rn(x); }
TW_DEVICE double point_reciprocal(double x) { return __drcp_rn(x); }
TW_DEVICE float point_tanh(float x) { return tanhf(x); }
TW_DEVICE double point_tanh(double x) { return tanh(x); }
TW_DEVICE float point_erf(float x) { return erff(x); }
TW_DEVICE double point_erf(double x) { return erf(x); }
TW_DEVICE float point_sin(float x) { return sinf(x); }
TW_DEVICE double point_sin(double x) { return sin(x); }
TW_DEVICE float point_cos(float x) { return cosf(x); }
TW_DEVICE double point_cos(double x) { return cos(x); }
TW_DEVICE float point_tan(float x) { return tanf(x); }
TW_DEVICE double point_tan(double x) { return tan(x); }
TW_DEVICE float point_asin(float x) { return asinf(x); }
TW_DEVICE double point_asin(double x) { return asin(x); }
TW_DEVICE float point_acos(float x) { return acosf(x); }
TW_DEVICE double point_acos(double x) { return acos(x); }
TW_DEVICE float point_atan(float x) { return atanf(x); }
TW_DEVICE double point_atan(double x) { return atan(x); }
TW_DEVICE float point_sinh(float x) { return sinhf(x); }
TW_DEVICE double point_sinh(double x) { return sinh(x); }
TW_DEVICE float point_cosh(float x) { return coshf(x); }
TW_DEVICE double point_cosh(double x) { return cosh(x); }
TW_DEVICE float point_asinh(float x) { return asinhf(x); }
TW_DEVICE double point_asinh(double x) { return asinh(x); }
TW_DEVICE float point_acosh(float x) { return acoshf(x); }
TW_DEVICE double point_acosh(double x) { return acosh(x); }
TW_DEVICE float point_atanh(float x) { return atanhf(x); }
TW_DEVICE double point_atanh(double x) { return atanh(x); }
TW_DEVICE float point_floor(float x) { return floorf(x); }
TW_DEVICE double point_floor(double x) { return floor(x); }
TW_DEVICE float point_ceil(float x) { return ceilf(x); }
TW_DEVICE double point_ceil(double x) { return ceil(x); }
TW_DEVICE float point_round(float x) { return rintf(x); }
TW_DEVICE double point_round(double x) { return rint(x); }
TW_DEVICE float point_trunc(float x) { return truncf(x); }
TW_DEVICE double point_trunc(double x) { return trunc(x); }
template <class T>
TW_DEVICE int64_t point_is_nan(T x) {
  return x != x ? 1 : 0;
}
template <class T>
TW_DEVICE int64_t point_is_inf(T x) {
  return point_abs(x) == static_cast<T>(__int_as_float(0x7f800000)) ? 1 : 0;
}

// ---- floats: activations ----
/// 1 / x to 1 ulp for 1 <= x <= 2^126.
TW_DEVICE float fast_reciprocal(float x) { return __fdividef(1.0f, x); }

TW_DEVICE float point_sigmoid(float x) {
  const float e = expf(-fabsf(x));
  const float r = fast_reciprocal(1.0f + e);
  return x < 0.0f ? e * r : r;
}
TW_DEVICE double point_sigmoid(double x) {
  const double e = exp(-fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

template <class T>
TW_DEVICE T point_silu(T x) {
  return x * point_sigmoid(x);
}

template <class T>
TW_DEVICE T point_softplus(T x) {
  return point_relu(x) + point_log1p(point_exp(-point_abs(x)));
}

/// x times the normal distribution function, whose lower tail is exp(-x^2 / 2) u P(u) / 2 with
/// u = 1 / (1 + |x| / sqrt(8)): no cancellation on the negative side. The polynomial is that of the
/// CPU backend (kernels/vec/gen_polynomials.py).
TW_DEVICE float point_gelu(float x) {
  const float size = fminf(fabsf(x), 16.0f);  // the tail is 0 there
  const float u = fast_reciprocal(fmaf(size, 0.353553391f, 1.0f));
  const float square = __fmul_rn(size, size);
  // What rounding took from the square is given back to the exponential.
  const float half_lost = 0.5f * fmaf(size, size, -square);
  const float power = expf(-0.5f * square);
  float p = -0.00317721646f;
  p = fmaf(p, u, -0.0433190314f);
  p = fmaf(p, u, 0.251349701f);
  p = fmaf(p, u, -0.448322795f);
  p = fmaf(p, u, 0.250510939f);
  p = fmaf(p, u, -0.014506934f);
  p = fmaf(p, u, 0.199440193f);
  p = fmaf(p, u, 0.243599185f);
  p = fmaf(p, u, 0.282338676f);
  p = fmaf(p, u, 0.282087231f);
  const float tail = fmaf(-half_lost, power, power) * (0.5f * u * p);
  return x * (x < 0.0f ? tail : 1.0f - tail);
}
TW_DEVICE double point_gelu(double x) { return x * 0.5 * (1.0 + erf(x * 0.7071067811865476)); }

/// x (1 + tanh(s)) / 2 is x sigmoid(2 s), s = sqrt(2 / pi) (x + 0.044715 x^3).
TW_DEVICE float point_gelu_tanh(float x) {
  return x * point_sigmoid(fmaf(x * x * x, 0.044715f, x) * 1.59576912f);
}
TW_DEVICE double point_gelu_tanh(double x) {
  return x * 0.5 * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

TW_DEVICE float point_mish(float x) { return x * tanhf(x > 20.0f ? x : log1pf(expf(x))); }
TW_DEVICE double point_mish(double x) { return x * tanh(point_softplus(x)); }

// Parameters are floats on both lanes.
template <class T>
TW_DEVICE T clamp_float(T x, T low, T high) {
  const T raised = low > x ? low : x;
  return high < raised ? high : raised;
}
template <class T>
TW_DEVICE T point_clip(T x, float low, float high) {
  return clamp_float(x, static_cast<T>(low), static_cast<T>(high));
}
template <class T>
TW_DEVICE T point_hard_sigmoid(T x, float alpha, float beta) {
  return clamp_float(x * static_cast<T>(alpha) + static_cast<T>(beta), T{0}, T{1});
}
template <class T>
TW_DEVICE T point_hard_swish(T x) {
  return x * clamp_float(x * static_cast<T>(1.0 / 6.0) + T{0.5}, T{0}, T{1});
}
template <class T>
TW_DEVICE T point_leaky_relu(T x, float slope) {
  return x < T{0} ? x * static_cast<T>(slope) : x;
}
template <class T>
TW_DEVICE T point_elu(T x, float alpha) {
  return x < T{0} ? static_cast<T>(alpha) * point_expm1(x) : x;
}
template <class T>
TW_DEVICE T point_celu(T x, float alpha) {
  return x < T{0} ? static_cast<T>(alpha) * point_expm1(x / static_cast<T>(alpha)) : x;
}
template <class T>
TW_DEVICE T point_selu(T x, float alpha, float gamma) {
  return static_cast<T>(gamma) * (x <= T{0} ? static_cast<T>(alpha) * point_expm1(x) : x);
}
template <class T>
TW_DEVICE T point_thresholded_relu(T x, float alpha) {
  return x <= static_cast<T>(alpha) ? T{0} : x;
}

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
