// vec_avx512.h: the operations of vec.h in AVX-512 (F, BW, DQ, VL).
#pragma once

#include <immintrin.h>
#include <stdint.h>

namespace tw::cpu::TW_ISA {

using F32 = __m512;
using F64 = __m512d;
using I32 = __m512i;
using Mask = __mmask16;
static constexpr int kLanes = 16;

static inline Mask first_lanes(int64_t n) { return Mask((1u << n) - 1u); }

static inline F32 zero() { return _mm512_setzero_ps(); }
static inline F32 set1(float x) { return _mm512_set1_ps(x); }
static inline F32 load(const float* p) { return _mm512_loadu_ps(p); }
static inline void store(float* p, F32 v) { _mm512_storeu_ps(p, v); }
/// The first n lanes, 0 <= n < kLanes; the others read as 0 and are not touched in memory.
static inline F32 load_n(const float* p, int64_t n) {
  return _mm512_maskz_loadu_ps(first_lanes(n), p);
}
static inline void store_n(float* p, F32 v, int64_t n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), v);
}

static inline F32 add(F32 a, F32 b) { return _mm512_add_ps(a, b); }
static inline F32 sub(F32 a, F32 b) { return _mm512_sub_ps(a, b); }
static inline F32 mul(F32 a, F32 b) { return _mm512_mul_ps(a, b); }
static inline F32 div(F32 a, F32 b) { return _mm512_div_ps(a, b); }
static inline F32 sqrt(F32 a) { return _mm512_sqrt_ps(a); }
static inline F32 fma(F32 a, F32 b, F32 c) { return _mm512_fmadd_ps(a, b, c); }
static inline F32 fnma(F32 a, F32 b, F32 c) { return _mm512_fnmadd_ps(a, b, c); }
static inline F32 max_raw(F32 a, F32 b) { return _mm512_max_ps(a, b); }
static inline F32 min_raw(F32 a, F32 b) { return _mm512_min_ps(a, b); }
/// kMode: _MM_FROUND_TO_NEAREST_INT, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF or
/// _MM_FROUND_TO_ZERO.
template <int kMode>
static inline F32 round(F32 a) {
  return _mm512_roundscale_ps(a, kMode | _MM_FROUND_NO_EXC);
}

static inline F32 bit_and(F32 a, F32 b) { return _mm512_and_ps(a, b); }
static inline F32 bit_or(F32 a, F32 b) { return _mm512_or_ps(a, b); }
static inline F32 bit_xor(F32 a, F32 b) { return _mm512_xor_ps(a, b); }
static inline F32 and_not(F32 a, F32 b) { return _mm512_andnot_ps(a, b); }  // ~a & b

static inline Mask less(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline Mask less_equal(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
static inline Mask equal(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline Mask unordered(F32 a, F32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
static inline Mask mask_and(Mask a, Mask b) { return Mask(a & b); }
static inline Mask mask_or(Mask a, Mask b) { return Mask(a | b); }
static inline Mask mask_and_not(Mask a, Mask b) { return Mask(~a & b); }
/// True in the first n lanes, 0 <= n < kLanes.
static inline Mask first_mask(int64_t n) { return first_lanes(n); }
static inline bool any(Mask m) { return m != 0; }
static inline F32 select(Mask m, F32 yes, F32 no) { return _mm512_mask_blend_ps(m, no, yes); }

static inline I32 as_int(F32 a) { return _mm512_castps_si512(a); }
static inline F32 as_float(I32 a) { return _mm512_castsi512_ps(a); }
static inline I32 iset1(int32_t x) { return _mm512_set1_epi32(x); }
static inline I32 iload(const void* p) { return _mm512_loadu_si512(p); }
static inline void istore(void* p, I32 v) { _mm512_storeu_si512(p, v); }
static inline I32 iadd(I32 a, I32 b) { return _mm512_add_epi32(a, b); }
static inline I32 isub(I32 a, I32 b) { return _mm512_sub_epi32(a, b); }
static inline I32 iand(I32 a, I32 b) { return _mm512_and_si512(a, b); }
static inline I32 ior(I32 a, I32 b) { return _mm512_or_si512(a, b); }
template <unsigned kBits>
static inline I32 shift_left(I32 a) {
  return _mm512_slli_epi32(a, kBits);
}
template <unsigned kBits>
static inline I32 shift_right(I32 a) {
  return _mm512_srai_epi32(a, kBits);
}
template <unsigned kBits>
static inline I32 shift_right_zero(I32 a) {
  return _mm512_srli_epi32(a, kBits);
}
static inline I32 to_int(F32 a) { return _mm512_cvtps_epi32(a); }  // nearest even
static inline I32 truncate_to_int(F32 a) { return _mm512_cvttps_epi32(a); }
static inline F32 to_float(I32 a) { return _mm512_cvtepi32_ps(a); }

/// Lane j takes lane j + kHalf, for kHalf of 8, 4, 2 or 1; lanes from kHalf on are of no interest.
template <int kHalf>
static inline F32 shift_down(F32 v) {
  if constexpr (kHalf == 8) return _mm512_shuffle_f32x4(v, v, _MM_SHUFFLE(3, 2, 3, 2));
  if constexpr (kHalf == 4) return _mm512_shuffle_f32x4(v, v, _MM_SHUFFLE(1, 1, 1, 1));
  if constexpr (kHalf == 2) return _mm512_permute_ps(v, _MM_SHUFFLE(3, 2, 3, 2));
  if constexpr (kHalf == 1) return _mm512_permute_ps(v, _MM_SHUFFLE(1, 1, 1, 1));
}
static inline float first(F32 v) { return _mm512_cvtss_f32(v); }

static inline F64 dset1(double x) { return _mm512_set1_pd(x); }
static inline F64 dadd(F64 a, F64 b) { return _mm512_add_pd(a, b); }
static inline F64 dsub(F64 a, F64 b) { return _mm512_sub_pd(a, b); }
static inline F64 dmul(F64 a, F64 b) { return _mm512_mul_pd(a, b); }
static inline F64 ddiv(F64 a, F64 b) { return _mm512_div_pd(a, b); }
static inline F64 dmin(F64 a, F64 b) { return _mm512_min_pd(a, b); }
static inline F64 dmax(F64 a, F64 b) { return _mm512_max_pd(a, b); }
static inline F64 dround_even(F64 a) {
  return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline F64 widen_low(F32 v) { return _mm512_cvtps_pd(_mm512_castps512_ps256(v)); }
static inline F64 widen_high(F32 v) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1)); }
static inline F32 narrow(F64 low, F64 high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}

}  // namespace tw::cpu::TW_ISA
