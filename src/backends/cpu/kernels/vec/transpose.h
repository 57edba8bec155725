// transpose.h: the transpose of a block of 4-byte elements, shared by the packing of B and the
// block copies.
#pragma once

#include <stdint.h>

#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {

/// dst[c * dst_row + r] = src[r * src_row + c] for a 4 x 4 block.
static inline void transpose_4x4(const float* src, int64_t src_row, float* dst, int64_t dst_row) {
  __m128 r0 = _mm_loadu_ps(src);
  __m128 r1 = _mm_loadu_ps(src + src_row);
  __m128 r2 = _mm_loadu_ps(src + 2 * src_row);
  __m128 r3 = _mm_loadu_ps(src + 3 * src_row);
  _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
  _mm_storeu_ps(dst, r0);
  _mm_storeu_ps(dst + dst_row, r1);
  _mm_storeu_ps(dst + 2 * dst_row, r2);
  _mm_storeu_ps(dst + 3 * dst_row, r3);
}

/// Any block. 16 rows at a time fill whole lines of the target, and 64 columns bound the pages of
/// it in use. Elements are moved as bits: the float type stands for any 4 bytes.
static inline void transpose(const float* src, int64_t src_row, float* dst, int64_t dst_row,
                             int64_t rows, int64_t cols) {
  const int64_t whole_rows = rows & ~int64_t{3}, whole_cols = cols & ~int64_t{3};
  for (int64_t c0 = 0; c0 < whole_cols; c0 += 64) {
    const int64_t c1 = c0 + 64 < whole_cols ? c0 + 64 : whole_cols;
    for (int64_t r0 = 0; r0 < whole_rows; r0 += 16) {
      const int64_t r1 = r0 + 16 < whole_rows ? r0 + 16 : whole_rows;
      for (int64_t c = c0; c < c1; c += 4) {
        for (int64_t r = r0; r < r1; r += 4) {
          transpose_4x4(src + r * src_row + c, src_row, dst + c * dst_row + r, dst_row);
        }
      }
    }
  }
  const auto copy_rest = [&](int64_t r_begin, int64_t c_begin, int64_t c_end) {
    for (int64_t c = c_begin; c < c_end; ++c) {
      for (int64_t r = r_begin; r < rows; ++r) {
        memcpy(dst + c * dst_row + r, src + r * src_row + c, 4);
      }
    }
  };
  copy_rest(whole_rows, 0, whole_cols);
  copy_rest(0, whole_cols, cols);
}

}  // namespace tw::cpu::TW_ISA
