// reduce.cpp: reductions of a contiguous row, and their step by step form over outer axes.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/lanes.h"

namespace tw::cpu::TW_ISA {
namespace {

F32 same(F32 x) { return x; }
F32 square(F32 x) { return mul(x, x); }

template <auto kOp, auto kOf>
float reduce_row(const float* x, int64_t n) {
  float start = 0.0f;
  if constexpr (kOp == mul) start = 1.0f;
  if constexpr (kOp == max_nan) start = -__builtin_inff();
  if constexpr (kOp == min_nan) start = __builtin_inff();
  return reduce(x, n, start, [](F32 v) { return kOf(v); }, [](F32 a, F32 b) { return kOp(a, b); });
}

template <auto kOp, auto kOf>
void accumulate(const float* x, float* acc, int64_t n) {
  map2(acc, x, acc, n, [](F32 a, F32 v) { return kOp(a, kOf(v)); });
}

}  // namespace

ReduceKernels reduce_kernels() {
  return {.sum = reduce_row<add, same>,
          .max = reduce_row<max_nan, same>,
          .min = reduce_row<min_nan, same>,
          .prod = reduce_row<mul, same>,
          .sum_sq = reduce_row<add, square>,
          .sum_abs = reduce_row<add, abs>};
}

AccumulateKernels accumulate_kernels() {
  return {.sum = accumulate<add, same>,
          .max = accumulate<max_nan, same>,
          .min = accumulate<min_nan, same>,
          .prod = accumulate<mul, same>,
          .sum_sq = accumulate<add, square>,
          .sum_abs = accumulate<add, abs>};
}

}  // namespace tw::cpu::TW_ISA
