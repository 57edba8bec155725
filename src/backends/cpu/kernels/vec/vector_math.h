// vector_math.h: exp, log and their relatives on vectors, of which the kernels make functions over
// blocks.
//
// The reductions are the textbook ones of Cody and Waite; the coefficients come from
// gen_polynomials.py. The largest errors that the tests found stand in unary_test.cpp, as the
// limits that it holds each function to.
#pragma once

#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {

// ln 2 in two parts; the first has so few bits that its product with any exponent is exact.
static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;

/// x = n ln 2 + r with |r| <= ln(2) / 2; p is exp(r) - 1.
struct ExpParts {
  F32 n, p;
};

static inline ExpParts exp_parts(F32 x) {
  static constexpr float kP[] = {0.00138161768f, 0.00836895291f, 0.041668384f, 0.166665187f,
                                 0.499999934f};
  const F32 n = round<_MM_FROUND_TO_NEAREST_INT>(mul(x, set1(1.44269504f)));
  const F32 r = fnma(n, set1(kLn2Low), fnma(n, set1(kLn2High), x));
  return {n, fma(mul(r, r), horner(r, kP), r)};
}

/// 2^n for integral n in [-126, 127].
static inline F32 power_of_two(I32 n) { return as_float(shift_left<23>(iadd(n, iset1(127)))); }

/// x * 2^n for integral n in [-252, 254], rounded once.
static inline F32 scale(F32 x, F32 n) {
  const I32 whole = to_int(n);
  const I32 half = shift_right<1>(whole);
  return mul(mul(x, power_of_two(half)), power_of_two(isub(whole, half)));
}

/// x within [low, high]; NaN stays NaN.
static inline F32 clamp(F32 x, float low, float high) {
  return min_raw(set1(high), max_raw(set1(low), x));
}

/// 1.0 ulp, 1.0 without FMA.
static inline F32 exp(F32 x) {
  const ExpParts e = exp_parts(clamp(x, -104.0f, 89.0f));  // 0 and infinity beyond
  return scale(add(e.p, set1(1.0f)), e.n);
}

/// 1.5 ulp, 1.5 without FMA.
static inline F32 expm1(F32 x) {
  const ExpParts e = exp_parts(clamp(x, -25.0f, 89.0f));
  // Half of 2^n, which itself would overflow just below the largest argument.
  const F32 half_power = power_of_two(isub(to_int(e.n), iset1(1)));
  const F32 half = fma(half_power, e.p, sub(half_power, set1(0.5f)));
  return select(less(abs(x), set1(1e-8f)), x, add(half, half));
}

/// x = m 2^e with m in [sqrt(1/2), sqrt(2)), for finite x > 0. Subnormals are brought into range
/// first.
struct LogParts {
  F32 e, m;
};

static inline LogParts log_parts(F32 x) {
  const Mask subnormal = less(x, set1(0x1p-126f));
  const I32 bits = as_int(select(subnormal, mul(x, set1(0x1p24f)), x));
  const I32 exponent = shift_right<23>(isub(bits, iset1(0x3f3504f3)));
  const F32 e = to_float(exponent);
  return {select(subnormal, sub(e, set1(24.0f)), e),
          as_float(isub(bits, shift_left<23>(exponent)))};
}

/// 0.8 ulp, 0.9 without FMA.
static inline F32 log(F32 x) {
  static constexpr float kP[] = {0.0674668011f, -0.11675685f,  0.118881629f,
                                 -0.124055829f, 0.142195512f,  -0.166679962f,
                                 0.200021187f,  -0.250000096f, 0.333333126f};
  const LogParts parts = log_parts(x);
  const F32 f = sub(parts.m, set1(1.0f));
  const F32 square = mul(f, f);
  F32 small = mul(mul(square, f), horner(f, kP));
  small = fma(parts.e, set1(kLn2Low), small);
  small = fnma(set1(0.5f), square, small);
  const F32 y = fma(parts.e, set1(kLn2High), add(f, small));
  const F32 inf = set1(__builtin_inff());
  const F32 at_edge = select(equal(x, zero()), neg(inf), set1(__builtin_nanf("")));
  const F32 positive = select(equal(x, inf), inf, y);
  return select(less(zero(), x), positive, select(is_nan(x), x, at_edge));
}

/// log(u) for u = 1 + x rounded, corrected by what the rounding lost. 1.5 ulp, 1.5 without FMA.
static inline F32 log1p(F32 x) {
  const F32 u = add(x, set1(1.0f));
  const F32 y = log(u);
  const F32 lost = div(sub(x, sub(u, set1(1.0f))), u);
  const Mask usable = mask_and(less(zero(), u), less(u, set1(0x1p60f)));
  return select(less(abs(x), set1(1e-8f)), x, select(usable, add(y, lost), y));
}

/// 1.4 ulp, 1.4 without FMA.
static inline F32 tanh(F32 x) {
  static constexpr float kP[] = {-0.00564830761f, 0.0205898175f, -0.0537251235f, 0.133312744f,
                                 -0.333332761f};
  const F32 size = abs(x);
  const F32 square = mul(x, x);
  const F32 near_zero = fma(mul(square, size), horner(square, kP), size);
  const F32 far = sub(set1(1.0f), div(set1(2.0f), add(exp(add(size, size)), set1(1.0f))));
  return bit_or(select(less(size, set1(0.625f)), near_zero, far), sign_bit(x));
}

/// 1.1 ulp, 1.3 without FMA.
static inline F32 erf(F32 x) {
  static constexpr float kNear[] = {7.85379839e-5f, -0.000801017455f, 0.00518832551f,
                                    -0.0268538108f, 0.112835851f,     -0.376126258f,
                                    0.128379166f};
  static constexpr float kFar[] = {-2.1686989e-5f, 0.000441338063f, -0.00420457032f,
                                   0.0252082794f,  -0.108418612f,   -0.633219862f,
                                   -1.12957844f,   0.000188042915f};
  const F32 square = mul(x, x);
  const F32 near_zero = fma(horner(square, kNear), x, x);
  const F32 size = min_raw(set1(4.0f), abs(x));  // erf(4) rounds to 1
  const F32 far = sub(set1(1.0f), exp(horner(size, kFar)));
  return select(less(size, set1(1.0f)), near_zero, bit_or(far, sign_bit(x)));
}

/// With e = exp(-|x|) and q = e / (1 + e): 1 - q, or e - e q on the negative side, where the
/// rounding of q counts less the smaller e is.
/// 1.7 ulp, 1.8 without FMA.
static inline F32 sigmoid(F32 x) {
  const F32 one = set1(1.0f);
  const F32 e = exp(bit_or(x, set1(-0.0f)));
  const F32 q = div(e, add(one, e));
  return select(less(x, zero()), fnma(e, q, e), sub(one, q));
}

/// 2.0 ulp, 2.0 without FMA.
static inline F32 softplus(F32 x) {
  return add(max_raw(zero(), x), log1p(exp(bit_or(x, set1(-0.0f)))));
}

/// x times the normal distribution function, whose lower tail is exp(-x^2 / 2) u P(u) / 2 with
/// u = 1 / (1 + |x| / sqrt(8)): no cancellation on the negative side.
/// 7.1 ulp, 9.0 without FMA, for results of 1e-3 and more; below, the same absolute error.
static inline F32 gelu_erf(F32 x) {
  static constexpr float kP[] = {-0.00317721646f, -0.0433190314f, 0.251349701f, -0.448322795f,
                                 0.250510939f,    -0.014506934f,  0.199440193f, 0.243599185f,
                                 0.282338676f,    0.282087231f};
  const F32 size = min_raw(set1(16.0f), abs(x));  // the tail is 0 there
  const F32 u = div(set1(1.0f), fma(size, set1(0.353553391f), set1(1.0f)));
  const F32 square = mul(size, size);
  // What rounding took from the square is given back to the exponential; without FMA it is not
  // seen.
  const F32 half_lost = mul(fma(size, size, neg(square)), set1(0.5f));
  const F32 power = exp(mul(square, set1(-0.5f)));
  const F32 tail = mul(fnma(half_lost, power, power), mul(mul(u, set1(0.5f)), horner(u, kP)));
  return mul(x, select(less(x, zero()), tail, sub(set1(1.0f), tail)));
}

/// x (1 + tanh(s)) / 2 is x sigmoid(2 s), s = sqrt(2 / pi) (x + 0.044715 x^3).
/// 16 ulp, 18 without FMA, as for gelu_erf: the error of s times s, in the negative tail.
static inline F32 gelu_tanh(F32 x) {
  const F32 inner = fma(mul(mul(x, x), x), set1(0.044715f), x);
  return mul(x, sigmoid(mul(inner, set1(1.59576912f))));
}

}  // namespace tw::cpu::TW_ISA
