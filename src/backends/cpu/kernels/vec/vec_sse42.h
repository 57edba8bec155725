// vec_sse42.h: the operations of vec.h in SSE4.2. There is no FMA: fma is a multiply and an add,
// each rounded.
#pragma once

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

namespace tw::cpu::TW_ISA {

using F32 = __m128;
using F64 = __m128d;
using I32 = __m128i;
using Mask = __m128;
static constexpr int kLanes = 4;

static inline F32 zero() { return _mm_setzero_ps(); }
static inline F32 set1(float x) { return _mm_set1_ps(x); }
static inline F32 load(const float* p) { return _mm_loadu_ps(p); }
static inline void store(float* p, F32 v) { _mm_storeu_ps(p, v); }
/// The first n lanes, 0 <= n < kLanes; the others read as 0 and are not touched in memory.
static inline F32 load_n(const float* p, int64_t n) {
  float lanes[kLanes] = {};
  for (int64_t i = 0; i < n && i < kLanes; ++i) lanes[i] = p[i];
  return load(lanes);
}
static inline void store_n(float* p, F32 v, int64_t n) {
  float lanes[kLanes];
  store(lanes, v);
  for (int64_t i = 0; i < n && i < kLanes; ++i) p[i] = lanes[i];
}

static inline F32 add(F32 a, F32 b) { return _mm_add_ps(a, b); }
static inline F32 sub(F32 a, F32 b) { return _mm_sub_ps(a, b); }
static inline F32 mul(F32 a, F32 b) { return _mm_mul_ps(a, b); }
static inline F32 div(F32 a, F32 b) { return _mm_div_ps(a, b); }
static inline F32 sqrt(F32 a) { return _mm_sqrt_ps(a); }
static inline F32 fma(F32 a, F32 b, F32 c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
static inline F32 fnma(F32 a, F32 b, F32 c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
static inline F32 max_raw(F32 a, F32 b) { return _mm_max_ps(a, b); }
static inline F32 min_raw(F32 a, F32 b) { return _mm_min_ps(a, b); }
/// kMode: _MM_FROUND_TO_NEAREST_INT, _MM_FROUND_TO_NEG_INF, _MM_FROUND_TO_POS_INF or
/// _MM_FROUND_TO_ZERO.
template <int kMode>
static inline F32 round(F32 a) {
  return _mm_round_ps(a, kMode | _MM_FROUND_NO_EXC);
}

static inline F32 bit_and(F32 a, F32 b) { return _mm_and_ps(a, b); }
static inline F32 bit_or(F32 a, F32 b) { return _mm_or_ps(a, b); }
static inline F32 bit_xor(F32 a, F32 b) { return _mm_xor_ps(a, b); }
static inline F32 and_not(F32 a, F32 b) { return _mm_andnot_ps(a, b); }  // ~a & b

static inline Mask less(F32 a, F32 b) { return _mm_cmplt_ps(a, b); }
static inline Mask less_equal(F32 a, F32 b) { return _mm_cmple_ps(a, b); }
static inline Mask equal(F32 a, F32 b) { return _mm_cmpeq_ps(a, b); }
static inline Mask unordered(F32 a, F32 b) { return _mm_cmpunord_ps(a, b); }
static inline Mask mask_and(Mask a, Mask b) { return _mm_and_ps(a, b); }
static inline Mask mask_or(Mask a, Mask b) { return _mm_or_ps(a, b); }
static inline Mask mask_and_not(Mask a, Mask b) { return _mm_andnot_ps(a, b); }
/// True in the first n lanes, 0 <= n < kLanes.
static inline Mask first_mask(int64_t n) {
  const I32 lane = _mm_setr_epi32(0, 1, 2, 3);
  return _mm_castsi128_ps(_mm_cmpgt_epi32(_mm_set1_epi32(int32_t(n)), lane));
}
static inline bool any(Mask m) { return _mm_movemask_ps(m) != 0; }
static inline F32 select(Mask m, F32 yes, F32 no) { return _mm_blendv_ps(no, yes, m); }

static inline I32 as_int(F32 a) { return _mm_castps_si128(a); }
static inline F32 as_float(I32 a) { return _mm_castsi128_ps(a); }
static inline I32 iset1(int32_t x) { return _mm_set1_epi32(x); }
static inline I32 iload(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
static inline void istore(void* p, I32 v) { _mm_storeu_si128(static_cast<__m128i*>(p), v); }
static inline I32 iadd(I32 a, I32 b) { return _mm_add_epi32(a, b); }
static inline I32 isub(I32 a, I32 b) { return _mm_sub_epi32(a, b); }
static inline I32 iand(I32 a, I32 b) { return _mm_and_si128(a, b); }
static inline I32 ior(I32 a, I32 b) { return _mm_or_si128(a, b); }
template <int kBits>
static inline I32 shift_left(I32 a) {
  return _mm_slli_epi32(a, kBits);
}
template <int kBits>
static inline I32 shift_right(I32 a) {
  return _mm_srai_epi32(a, kBits);
}
template <int kBits>
static inline I32 shift_right_zero(I32 a) {
  return _mm_srli_epi32(a, kBits);
}
static inline I32 to_int(F32 a) { return _mm_cvtps_epi32(a); }  // nearest even
static inline I32 truncate_to_int(F32 a) { return _mm_cvttps_epi32(a); }
static inline F32 to_float(I32 a) { return _mm_cvtepi32_ps(a); }

/// Lane j takes lane j + kHalf, for kHalf of 2 or 1; lanes from kHalf on are of no interest.
template <int kHalf>
static inline F32 shift_down(F32 v) {
  if constexpr (kHalf == 2) return _mm_movehl_ps(v, v);
  if constexpr (kHalf == 1) return _mm_shuffle_ps(v, v, _MM_SHUFFLE(1, 1, 1, 1));
}
static inline float first(F32 v) { return _mm_cvtss_f32(v); }

static inline F64 dset1(double x) { return _mm_set1_pd(x); }
static inline F64 dadd(F64 a, F64 b) { return _mm_add_pd(a, b); }
static inline F64 dsub(F64 a, F64 b) { return _mm_sub_pd(a, b); }
static inline F64 dmul(F64 a, F64 b) { return _mm_mul_pd(a, b); }
static inline F64 ddiv(F64 a, F64 b) { return _mm_div_pd(a, b); }
static inline F64 dmin(F64 a, F64 b) { return _mm_min_pd(a, b); }
static inline F64 dmax(F64 a, F64 b) { return _mm_max_pd(a, b); }
static inline F64 dround_even(F64 a) {
  return _mm_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline F64 widen_low(F32 v) { return _mm_cvtps_pd(v); }
static inline F64 widen_high(F32 v) { return _mm_cvtps_pd(_mm_movehl_ps(v, v)); }
static inline F32 narrow(F64 low, F64 high) {
  return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

}  // namespace tw::cpu::TW_ISA
