// kernels.cpp: one table an instruction set. A table is made when it is first asked for, since the
// code that makes it is itself compiled for that instruction set.
#include "backends/cpu/kernels/kernels.h"

namespace tw::cpu {

namespace sse42 {
Kernels make_kernels(bool native_bf16);
}
namespace avx2 {
Kernels make_kernels(bool native_bf16);
}
namespace avx512 {
Kernels make_kernels(bool native_bf16);
}

const Kernels& kernels(Isa isa) {
  switch (isa) {
    case Isa::kAvx512: {
      static const Kernels table = avx512::make_kernels(has_avx512_bf16());
      return table;
    }
    case Isa::kAvx2: {
      static const Kernels table = avx2::make_kernels(false);
      return table;
    }
    case Isa::kSse42:
      break;
  }
  static const Kernels table = sse42::make_kernels(false);
  return table;
}

}  // namespace tw::cpu
