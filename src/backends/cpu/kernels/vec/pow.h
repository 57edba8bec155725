// pow.h: x^y on vectors as 2^(y log2 |x|), the logarithm, product and power in double; the special
// cases are those of C's pow.
#pragma once

#include "backends/cpu/kernels/vec/vec.h"
#include "backends/cpu/kernels/vec/vector_math.h"

namespace tw::cpu::TW_ISA {

template <int kCount>
static inline F64 horner(F64 x, const double (&coefficients)[kCount]) {
  F64 sum = dset1(coefficients[0]);
#pragma GCC unroll 16
  for (int i = 1; i < kCount; ++i) sum = dadd(dmul(sum, x), dset1(coefficients[i]));
  return sum;
}

/// 2^(y (e + log2 m)) as a factor in [1/2, 2] and an exponent n.
static inline F64 power_parts(F64 e, F64 m, F64 y, F64& n) {
  static constexpr double kLog2[] = {0.24292899814061652, 0.26144310951744975, 0.32061642585975475,
                                     0.41219840147278527, 0.57707801725029601, 0.96179669392432456,
                                     2.8853900817779273};
  static constexpr double kExp2[] = {
      1.5201918103382568e-5, 0.00015469291113793305, 0.0013333922578722835, 0.0096180272537712703,
      0.055504103534291704,  0.24022651198156649,    0.69314718072845285,   0.99999999996168205};
  const F64 s = ddiv(dsub(m, dset1(1.0)), dadd(m, dset1(1.0)));
  const F64 log2 = dadd(e, dmul(s, horner(dmul(s, s), kLog2)));
  // Past these limits the result is 0 or infinity in float.
  const F64 t = dmin(dset1(160.0), dmax(dset1(-160.0), dmul(y, log2)));
  n = dround_even(t);
  return horner(dsub(t, n), kExp2);
}

/// 0.75 ulp over 400,000 random pairs.
static inline F32 pow(F32 x, F32 y) {
  const F32 one = set1(1.0f), inf = set1(__builtin_inff()), nan = set1(__builtin_nanf(""));
  const F32 size = abs(x);
  const LogParts parts = log_parts(size);
  F32 e = select(equal(size, zero()), neg(inf), parts.e);
  e = select(equal(size, inf), inf, e);
  const F32 m = select(less(size, inf), parts.m, one);

  F64 n_low, n_high;
  const F64 low = power_parts(widen_low(e), widen_low(m), widen_low(y), n_low);
  const F64 high = power_parts(widen_high(e), widen_high(m), widen_high(y), n_high);
  F32 power = scale(narrow(low, high), narrow(n_low, n_high));
  power = select(equal(size, one), one, power);

  // Of a negative base: an odd power is negative, a fractional one does not exist.
  const Mask whole = equal(round<_MM_FROUND_TO_ZERO>(y), y);
  const F32 half = mul(y, set1(0.5f));
  const Mask odd = mask_and_not(equal(round<_MM_FROUND_TO_ZERO>(half), half), whole);
  power = select(odd, bit_or(power, sign_bit(x)), power);
  const Mask negative = mask_and(less(x, zero()), less(neg(inf), x));
  power = select(mask_and_not(whole, negative), nan, power);

  power = select(unordered(x, y), nan, power);
  return select(mask_or(equal(y, zero()), equal(x, one)), one, power);
}

}  // namespace tw::cpu::TW_ISA
