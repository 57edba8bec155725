// table.cpp: joins the kernels of one instruction set into its table.
#include "backends/cpu/kernels/gemm/gemm_tile.h"
#include "backends/cpu/kernels/tables.h"

namespace tw::cpu::TW_ISA {

#if defined(__AVX512F__)
static constexpr Isa kThisIsa = Isa::kAvx512;
#elif defined(__AVX2__)
static constexpr Isa kThisIsa = Isa::kAvx2;
#else
static constexpr Isa kThisIsa = Isa::kSse42;
#endif

Kernels make_kernels(bool native_bf16) {
  Kernels k = {};
  k.isa = kThisIsa;
  k.native_bf16 = native_bf16;
  k.gemm_nr = kPanel;
  k.gemm_mr = kTileRows;
  k.packed_b_elems = packed_b_elems;
  k.pack_b = pack_b;
  k.gemm = gemm;
  k.gemm_row_major_b = gemm_row_major_b;
  k.igemm = igemm;
  k.packed_b_bf16_elems = packed_b_bf16_elems;
  k.pack_b_bf16 = pack_b_bf16;
  k.gemm_bf16 = gemm_bf16;
#if defined(__AVX512F__)
  if (native_bf16) k.gemm_bf16 = gemm_bf16_native;
#endif
  k.unary = unary_kernels();
  k.binary = binary_kernels();
  k.reduce = reduce_kernels();
  k.accumulate = accumulate_kernels();
  k.row = row_kernels();
  k.convert = convert_kernels();
  k.copy = copy_kernels();
  k.depthwise = depthwise;
  k.max_pool = max_pool;
  k.avg_pool = avg_pool;
  return k;
}

}  // namespace tw::cpu::TW_ISA
