// tables.h: what each kernel source defines in its instruction set's namespace; table.cpp joins it
// into Kernels.
#pragma once

#include "backends/cpu/kernels/kernels.h"

namespace tw::cpu::TW_ISA {

int64_t packed_b_elems(int64_t k, int64_t n);
void pack_b(const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n,
            float* packed);
void gemm(const GemmArgs& args);
void gemm_row_major_b(const GemmArgs& args);
void igemm(const IgemmArgs& args);

int64_t packed_b_bf16_elems(int64_t k, int64_t n);
void pack_b_bf16(const uint16_t* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n,
                 uint16_t* packed);
void gemm_bf16(const GemmBf16Args& args);
void gemm_bf16_native(const GemmBf16Args& args);  // avx512 only

UnaryKernels unary_kernels();
BinaryKernels binary_kernels();
ReduceKernels reduce_kernels();
AccumulateKernels accumulate_kernels();
RowKernels row_kernels();
ConvertKernels convert_kernels();
CopyKernels copy_kernels();

void depthwise(const WindowArgs& args, const float* weights, const float* bias);
void max_pool(const WindowArgs& args);
void avg_pool(const WindowArgs& args, const float* divisors);

}  // namespace tw::cpu::TW_ISA
