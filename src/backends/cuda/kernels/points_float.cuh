// points_float.cuh: the operations of points.cuh on the lanes float and double. f32 functions are
// within a few ulp. Sums and products are rounded one by one (never contracted), so that an
// element's bits do not depend on what the compiler sees around it.
#pragma once

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
TW_DEVICE float point_clip(float x, float low, float high) { return clamp_float(x, low, high); }
/// Where the bounds cross, the lower one comes first.
TW_DEVICE double point_clip(double x, float low, float high) {
  return x < low ? low : x > high ? high : x;
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
