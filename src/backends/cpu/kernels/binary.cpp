// binary.cpp: operations of two arguments over blocks, each side a block or one number.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/pow.h"

namespace tw::cpu::TW_ISA {
namespace {

template <auto kOp>
void blocks(const float* a, const float* b, float* y, int64_t n) {
  map2(a, b, y, n, [](F32 u, F32 v) { return kOp(u, v); });
}

template <auto kOp>
void block_number(const float* x, float s, float* y, int64_t n) {
  const F32 right = set1(s);
  map1(x, y, n, [right](F32 v) { return kOp(v, right); });
}

template <auto kOp>
void number_block(float s, const float* x, float* y, int64_t n) {
  const F32 left = set1(s);
  map1(x, y, n, [left](F32 v) { return kOp(left, v); });
}

template <auto kOp>
BinaryForms forms() {
  return {.vv = blocks<kOp>, .vs = block_number<kOp>, .sv = number_block<kOp>};
}

}  // namespace

BinaryKernels binary_kernels() {
  return {.add = forms<add>(),
          .sub = forms<sub>(),
          .mul = forms<mul>(),
          .div = forms<div>(),
          .max = forms<max_nan>(),
          .min = forms<min_nan>(),
          .pow = forms<pow>()};
}

}  // namespace tw::cpu::TW_ISA
