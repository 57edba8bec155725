// trig.h: sin and cos on vectors. Multiples of pi / 2 are taken off in double, which keeps the
// remainder exact to float even next to a multiple; arguments past kTrigLimit are rare and go
// through the C library one by one.
#pragma once

#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {

static constexpr float kTrigLimit = 1e6f;

/// x - n pi / 2 for the nearest n. pi / 2 is in two parts; the first has 33 bits, so n times it is
/// exact.
static inline F64 reduce_half_pi(F64 x, F64& n) {
  n = dround_even(dmul(x, dset1(0.63661977236758134)));
  const F64 r = dsub(x, dmul(n, dset1(1.57079632673412561417)));
  return dsub(r, dmul(n, dset1(6.07710050650619224932e-11)));
}

/// sin(x + quarter * pi / 2).
static inline F32 sin_shifted(F32 x, int quarter) {
  static constexpr float kSin[] = {2.71812054e-6f, -0.000198393121f, 0.0083333293f, -0.166666666f};
  static constexpr float kCos[] = {2.44384464e-5f, -0.00138873675f, 0.0416666469f};
  F64 n_low, n_high;
  const F64 r_low = reduce_half_pi(widen_low(x), n_low);
  const F64 r_high = reduce_half_pi(widen_high(x), n_high);
  const F32 r = narrow(r_low, r_high);
  const I32 n = iadd(to_int(narrow(n_low, n_high)), iset1(quarter));

  const F32 square = mul(r, r);
  const F32 sine = fma(mul(square, r), horner(square, kSin), r);
  const F32 cosine =
      fma(mul(square, square), horner(square, kCos), fnma(set1(0.5f), square, set1(1.0f)));
  // Bit 0 of n chooses the function, bit 1 the sign.
  const Mask odd = less(as_float(ior(shift_left<31>(n), iset1(0x3f800000))), zero());
  const F32 flip = as_float(shift_left<31>(shift_right<1>(n)));
  return bit_xor(select(odd, cosine, sine), flip);
}

template <class Scalar>
static inline F32 repair_large(F32 x, F32 y, Scalar scalar) {
  if (!any(less(set1(kTrigLimit), abs(x)))) return y;
  float xs[kLanes], ys[kLanes];
  store(xs, x);
  store(ys, y);
  for (int i = 0; i < kLanes; ++i) {
    if (__builtin_fabsf(xs[i]) > kTrigLimit) ys[i] = float(scalar(double(xs[i])));
  }
  return load(ys);
}

/// 1.6 ulp.
static inline F32 sin(F32 x) {
  const F32 y = select(less(abs(x), set1(1e-4f)), x, sin_shifted(x, 0));
  return repair_large(x, y, [](double v) { return __builtin_sin(v); });
}

/// 1.6 ulp.
static inline F32 cos(F32 x) {
  return repair_large(x, sin_shifted(x, 1), [](double v) { return __builtin_cos(v); });
}

}  // namespace tw::cpu::TW_ISA
