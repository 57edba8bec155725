// gemm_bf16_native.cpp: the bf16 matrix product by the AVX512_BF16 dot product; compiled for avx512
// with -mavx512bf16 only.
#include "backends/cpu/kernels/gemm/gemm_bf16.h"
#include "backends/cpu/kernels/tables.h"

namespace tw::cpu::TW_ISA {

void gemm_bf16_native(const GemmBf16Args& args) { multiply_bf16(args); }

}  // namespace tw::cpu::TW_ISA
