// vec.h: the few vector operations that the kernels are written in, with one definition an
// instruction set.
//
// The kernel sources are compiled once for each instruction set, with TW_ISA naming the namespace.
// An inline function of a shared header that was compiled there could be picked by the linker for
// the whole program and would then need that instruction set everywhere; hence kernel sources
// include compiler intrinsics, <string.h> and headers of this folder only, and all code lives in
// tw::cpu::TW_ISA.
//
// F32 has kLanes floats, I32 as many int32, Mask a truth value for each, F64 half as many doubles.
#pragma once

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#include "backends/cpu/kernels/vec/vec_avx512.h"
#elif defined(__AVX2__)
#include "backends/cpu/kernels/vec/vec_avx2.h"
#else
#include "backends/cpu/kernels/vec/vec_sse42.h"
#endif

namespace tw::cpu::TW_ISA {

static inline F32 neg(F32 x) { return bit_xor(x, set1(-0.0f)); }
static inline F32 abs(F32 x) { return and_not(set1(-0.0f), x); }
static inline F32 sign_bit(F32 x) { return bit_and(x, set1(-0.0f)); }
static inline Mask is_nan(F32 x) { return unordered(x, x); }

/// NaN when either is NaN, unlike the instructions, which return the second operand.
static inline F32 max_nan(F32 a, F32 b) { return select(is_nan(a), a, max_raw(a, b)); }
static inline F32 min_nan(F32 a, F32 b) { return select(is_nan(a), a, min_raw(a, b)); }

/// Polynomial with coefficients from the highest power down.
template <int kCount>
static inline F32 horner(F32 x, const float (&coefficients)[kCount]) {
  F32 sum = set1(coefficients[0]);
#pragma GCC unroll 16
  for (int i = 1; i < kCount; ++i) sum = fma(sum, x, set1(coefficients[i]));
  return sum;
}

/// y[i] = op(x[i]) with a tail of less than a vector read and written in part.
template <class Op>
static inline void map1(const float* x, float* y, int64_t n, Op op) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, op(load(x + i)));
  if (i < n) store_n(y + i, op(load_n(x + i, n - i)), n - i);
}

/// y[i] = op(a[i], b[i]).
template <class Op>
static inline void map2(const float* a, const float* b, float* y, int64_t n, Op op) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, op(load(a + i), load(b + i)));
  if (i < n) store_n(y + i, op(load_n(a + i, n - i), load_n(b + i, n - i)), n - i);
}

}  // namespace tw::cpu::TW_ISA
