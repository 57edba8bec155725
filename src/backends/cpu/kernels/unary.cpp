// unary.cpp: functions of one argument over blocks.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/trig.h"
#include "backends/cpu/kernels/vec/vector_math.h"

namespace tw::cpu::TW_ISA {
namespace {

/// f over a block. A lane computes the same whichever place in the block it has.
template <auto kFn>
void block(const float* x, float* y, int64_t n) {
  map1(x, y, n, [](F32 v) { return kFn(v); });
}

F32 silu(F32 x) { return mul(x, sigmoid(x)); }
F32 rsqrt(F32 x) { return div(set1(1.0f), sqrt(x)); }
F32 reciprocal(F32 x) { return div(set1(1.0f), x); }
F32 relu(F32 x) { return max_raw(zero(), x); }
F32 sign(F32 x) {
  return select(less(zero(), x), set1(1.0f), select(less(x, zero()), set1(-1.0f), x));
}
F32 hard_swish(F32 x) {
  return mul(x, clamp(add(mul(x, set1(1.0f / 6.0f)), set1(0.5f)), 0.0f, 1.0f));
}

void leaky_relu(const float* x, float* y, int64_t n, float slope) {
  map1(x, y, n, [=](F32 v) { return select(less(v, zero()), mul(v, set1(slope)), v); });
}

void elu(const float* x, float* y, int64_t n, float alpha) {
  map1(x, y, n, [=](F32 v) { return select(less(v, zero()), mul(set1(alpha), expm1(v)), v); });
}

void hard_sigmoid(const float* x, float* y, int64_t n, float alpha, float beta) {
  map1(x, y, n, [=](F32 v) { return clamp(add(mul(v, set1(alpha)), set1(beta)), 0.0f, 1.0f); });
}

void clip(const float* x, float* y, int64_t n, float low, float high) {
  map1(x, y, n, [=](F32 v) { return clamp(v, low, high); });
}

}  // namespace

UnaryKernels unary_kernels() {
  UnaryKernels u = {};
  u.exp = block<exp>;
  u.expm1 = block<expm1>;
  u.log = block<log>;
  u.log1p = block<log1p>;
  u.tanh = block<tanh>;
  u.erf = block<erf>;
  u.sigmoid = block<sigmoid>;
  u.sin = block<sin>;
  u.cos = block<cos>;
  u.silu = block<silu>;
  u.gelu_erf = block<gelu_erf>;
  u.gelu_tanh = block<gelu_tanh>;
  u.softplus = block<softplus>;
  u.sqrt = block<sqrt>;
  u.rsqrt = block<rsqrt>;
  u.reciprocal = block<reciprocal>;
  u.abs = block<abs>;
  u.neg = block<neg>;
  u.sign = block<sign>;
  u.relu = block<relu>;
  u.floor = block<round<_MM_FROUND_TO_NEG_INF>>;
  u.ceil = block<round<_MM_FROUND_TO_POS_INF>>;
  u.trunc = block<round<_MM_FROUND_TO_ZERO>>;
  u.round_even = block<round<_MM_FROUND_TO_NEAREST_INT>>;
  u.hard_swish = block<hard_swish>;
  u.leaky_relu = leaky_relu;
  u.elu = elu;
  u.hard_sigmoid = hard_sigmoid;
  u.clip = clip;
  return u;
}

}  // namespace tw::cpu::TW_ISA
