// gemm_bf16.h: the matrix product of bf16 operands with f32 sums, compiled with and without the
// AVX512_BF16 dot product.
//
// A step takes two k at once: pairs of B lie side by side in the panel, a pair of A is one 4-byte
// broadcast. The dot product is half as fast as a multiply-add in f32, so that a panel may stream
// from the second-level cache and K is not cut.
#pragma once

#include "backends/cpu/kernels/gemm/gemm_tile.h"
#include "backends/cpu/kernels/kernels.h"

namespace tw::cpu::TW_ISA {

#if defined(__AVX512BF16__)

using PairsB = I32;
static inline PairsB load_pairs(const uint16_t* b) { return iload(b); }
static inline F32 dot(F32 sum, uint32_t a, PairsB b) {
  return _mm512_dpbf16_ps(sum, __m512bh(iset1(int32_t(a))), __m512bh(b));
}

#else

struct PairsB {
  F32 even, odd;
};
static inline PairsB load_pairs(const uint16_t* b) {
  const I32 pairs = iload(b);
  return {as_float(shift_left<16>(pairs)), as_float(iand(pairs, iset1(int32_t(0xffff0000))))};
}
static inline F32 dot(F32 sum, uint32_t a, PairsB b) {
  const I32 pair = iset1(int32_t(a));
  sum = fma(as_float(shift_left<16>(pair)), b.even, sum);
  return fma(as_float(iand(pair, iset1(int32_t(0xffff0000)))), b.odd, sum);
}

#endif

template <int R, int V>
static void bf16_tile(const GemmBf16Args& g, const uint16_t* a, const uint16_t* b,
                      const TileOutput& out) {
  F32 sum[R][V];
  start_sums(out, sum);
  const auto step = [&](const uint32_t(&pair)[R]) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const PairsB rB = load_pairs(b + 2 * v * kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r][v] = dot(sum[r][v], pair[r], rB);
    }
    b += 2 * V * kLanes;
  };
  uint32_t pair[R] = {};
  for (int64_t k = 0; k + 2 <= g.k; k += 2) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) memcpy(&pair[r], a + r * g.lda + k, 4);
    step(pair);
  }
  if (g.k % 2 != 0) {
    for (int r = 0; r < R; ++r) pair[r] = a[r * g.lda + g.k - 1];
    step(pair);
  }
  store_sums(out, sum);
}

template <int V>
static void bf16_panel(const GemmBf16Args& g, int64_t col, int64_t cols) {
  constexpr int kRows = max_rows(V);
  const uint16_t* b = g.b + col * ((g.k + 1) / 2 * 2);
  for (int64_t row = 0; row < g.m;) {
    const TileOutput out = {.c = g.c + row * g.ldc + col,
                            .ldc = g.ldc,
                            .cols = cols,
                            .bias = g.bias != nullptr ? g.bias + col : nullptr,
                            .accumulate = false};
    const uint16_t* a = g.a + row * g.lda;
    const int64_t left = g.m - row;
    if (left >= kRows) {
      bf16_tile<kRows, V>(g, a, b, out);
      row += kRows;
    } else if (left >= 3) {
      bf16_tile<3, V>(g, a, b, out);
      row += 3;
    } else {
      bf16_tile<1, V>(g, a, b, out);
      row += 1;
    }
  }
}

static inline void multiply_bf16(const GemmBf16Args& g) {
  for (int64_t col = 0; col < g.n; col += kPanel) {
    const int64_t cols = g.n - col < kPanel ? g.n - col : kPanel;
    const int64_t vectors = (cols + kLanes - 1) / kLanes;
    if (vectors == kPanelVectors) {
      bf16_panel<kPanelVectors>(g, col, cols);
    } else if (vectors == 3) {
      bf16_panel<kPanelVectors == 4 ? 3 : 1>(g, col, cols);
    } else if (vectors == 2) {
      bf16_panel<2>(g, col, cols);
    } else {
      bf16_panel<1>(g, col, cols);
    }
  }
}

}  // namespace tw::cpu::TW_ISA
