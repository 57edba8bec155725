// gemm_pack.cpp: puts B of the f32 matrix products into panels.
#include "backends/cpu/kernels/gemm/gemm_tile.h"
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/transpose.h"

namespace tw::cpu::TW_ISA {

static int64_t whole_vectors(int64_t cols) { return (cols + kLanes - 1) / kLanes * kLanes; }

int64_t packed_b_elems(int64_t k, int64_t n) { return whole_vectors(n) * k; }

void pack_b(const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n,
            float* packed) {
  for (int64_t col = 0; col < n; col += kPanel) {
    const int64_t cols = col + kPanel < n ? kPanel : n - col;
    const int64_t width = whole_vectors(cols);
    const float* src = b + col * n_stride;
    float* panel = packed + col * k;  // [k][width]
    if (n_stride == 1) {
      copy_panel(src, k_stride, k, cols, width, panel);
      continue;
    }
    for (int64_t i = 0; cols < width && i < k; ++i) {
      store(panel + i * width + width - kLanes, zero());
    }
    if (k_stride == 1) {
      transpose(src, n_stride, panel, width, cols, k);
      continue;
    }
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < cols; ++j) panel[i * width + j] = src[i * k_stride + j * n_stride];
    }
  }
}

}  // namespace tw::cpu::TW_ISA
