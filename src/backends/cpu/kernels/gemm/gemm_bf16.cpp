// gemm_bf16.cpp: the bf16 matrix product by multiply-adds in f32, and the packing that both forms
// of it read.
#include "backends/cpu/kernels/gemm/gemm_bf16.h"

#include "backends/cpu/kernels/tables.h"

namespace tw::cpu::TW_ISA {

static int64_t whole_vectors(int64_t cols) { return (cols + kLanes - 1) / kLanes * kLanes; }

void gemm_bf16(const GemmBf16Args& args) { multiply_bf16(args); }

int64_t packed_b_bf16_elems(int64_t k, int64_t n) { return whole_vectors(n) * ((k + 1) / 2 * 2); }

void pack_b_bf16(const uint16_t* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n,
                 uint16_t* packed) {
  const int64_t even_k = (k + 1) / 2 * 2;
  for (int64_t col = 0; col < n; col += kPanel) {
    const int64_t cols = n - col < kPanel ? n - col : kPanel;
    const int64_t width = whole_vectors(cols);
    uint16_t* panel = packed + col * even_k;  // [even_k / 2][width][2]
    for (int64_t i = 0; i < even_k; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        const bool inside = i < k && j < cols;
        panel[(i / 2 * width + j) * 2 + i % 2] =
            inside ? b[i * k_stride + (col + j) * n_stride] : uint16_t{0};
      }
    }
  }
}

}  // namespace tw::cpu::TW_ISA
