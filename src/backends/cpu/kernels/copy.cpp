// copy.cpp: copies of strided blocks: whole rows, transposes, and anything else one by one.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/transpose.h"

namespace tw::cpu::TW_ISA {
namespace {

/// dst[c * dst_row + r] = src[r * src_row + c], in blocks that keep the lines of both sides in the
/// first-level cache.
template <int kBytes>
void transpose_any(const char* src, int64_t src_row, char* dst, int64_t dst_row, int64_t rows,
                   int64_t cols) {
  constexpr int64_t kBlock = 32;
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const int64_t r1 = r0 + kBlock < rows ? r0 + kBlock : rows;
    for (int64_t c0 = 0; c0 < cols; c0 += kBlock) {
      const int64_t c1 = c0 + kBlock < cols ? c0 + kBlock : cols;
      for (int64_t c = c0; c < c1; ++c) {
        for (int64_t r = r0; r < r1; ++r) {
          memcpy(dst + (c * dst_row + r) * kBytes, src + (r * src_row + c) * kBytes, kBytes);
        }
      }
    }
  }
}

template <int kBytes>
void transpose_block(const char* src, int64_t src_row, char* dst, int64_t dst_row, int64_t rows,
                     int64_t cols) {
  if constexpr (kBytes == 4) {
    transpose(reinterpret_cast<const float*>(src), src_row, reinterpret_cast<float*>(dst), dst_row,
              rows, cols);
  } else {
    transpose_any<kBytes>(src, src_row, dst, dst_row, rows, cols);
  }
}

template <int kBytes>
void copy(const CopyArgs& a) {
  const char* src = static_cast<const char*>(a.src);
  char* dst = static_cast<char*>(a.dst);
  if (a.rows <= 0 || a.cols <= 0) return;
  if (a.src_col == 1 && a.dst_col == 1) {
    const bool one_piece = a.src_row == a.cols && a.dst_row == a.cols;
    const int64_t rows = one_piece ? 1 : a.rows;
    const size_t bytes = size_t(one_piece ? a.rows * a.cols : a.cols) * kBytes;
    for (int64_t r = 0; r < rows; ++r) {
      memcpy(dst + r * a.dst_row * kBytes, src + r * a.src_row * kBytes, bytes);
    }
  } else if (a.src_col == 1 && a.dst_row == 1) {
    transpose_block<kBytes>(src, a.src_row, dst, a.dst_col, a.rows, a.cols);
  } else if (a.src_row == 1 && a.dst_col == 1) {
    transpose_block<kBytes>(src, a.src_col, dst, a.dst_row, a.cols, a.rows);
  } else {
    for (int64_t r = 0; r < a.rows; ++r) {
      for (int64_t c = 0; c < a.cols; ++c) {
        memcpy(dst + (r * a.dst_row + c * a.dst_col) * kBytes,
               src + (r * a.src_row + c * a.src_col) * kBytes, kBytes);
      }
    }
  }
}

}  // namespace

CopyKernels copy_kernels() {
  return {.size1 = copy<1>, .size2 = copy<2>, .size4 = copy<4>, .size8 = copy<8>};
}

}  // namespace tw::cpu::TW_ISA
