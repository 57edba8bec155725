// The command line program with one kernel that is wrong, for the tests of `verify`: softmax over
// rows of 8. TW_OVERRUN 0: a value is off. TW_OVERRUN 1: the row is right, and the element behind
// it is written too, which only a program that has another buffer there can notice.
#include "backends/cpu/kernels/kernels.h"

namespace tw::cpu {

namespace sse42 {
Kernels make_kernels(bool native_bf16);
}

namespace {

void wrong_softmax(const float* x, const float* mask, float scale, float* y, int64_t n) {
  sse42::make_kernels(false).row.softmax(x, mask, scale, y, n);
  if (n == 8) y[TW_OVERRUN != 0 ? n : 2] += 0.25F;
}

Kernels wrong_kernels() {
  Kernels table = sse42::make_kernels(false);
  table.row.softmax = wrong_softmax;
  return table;
}

}  // namespace

const Kernels& kernels(Isa) {
  static const Kernels table = wrong_kernels();
  return table;
}

}  // namespace tw::cpu
