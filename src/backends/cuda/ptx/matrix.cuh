// Warp-wide matrix instructions: one PTX instruction a function. In every 8x8 matrix of 16-bit
// elements lane l holds row l / 4, columns 2 * (l % 4) and the next.
#pragma once

#include <cstdint>

namespace tw::cuda::ptx {

/// PTX ISA, ldmatrix: lanes 8i..8i+7 give the addresses of the eight rows of matrix i.
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&out)[4], uint32_t row_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(row_address)
               : "memory");
}

/// PTX ISA, movmatrix: the transposed 8x8 matrix.
__device__ __forceinline__ uint32_t movmatrix_trans(uint32_t in) {
  uint32_t out;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(in));
  return out;
}

/// PTX ISA, mma.m16n8k16: d[16, 8] += a[16, 16] x b[16, 8], bf16 in, fp32 sums.
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4],
                                                  uint32_t b_low, uint32_t b_high) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_low), "r"(b_high));
}

}  // namespace tw::cuda::ptx
