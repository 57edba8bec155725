// gemm_tile.h: the register tile of the f32 matrix products.
//
// A tile is R rows by P panels of V vectors of accumulators. One step of k loads the vectors of B,
// broadcasts one element of each row of A and does R * P * V multiply-adds, so an element of C is
// always one chain in ascending k whatever the tile. K is cut into chunks that keep a panel of B in
// the first-level cache; between chunks the f32 sums rest in C, which leaves the chain as it is.
#pragma once

#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {

// R * V accumulators, V vectors of B and a broadcast fill the register file: 32 registers in
// AVX-512, 16 elsewhere.
static constexpr int kPanelVectors = kLanes == 16 ? 4 : 2;
static constexpr int kPanel = kPanelVectors * kLanes;
static constexpr int kTileRows = 6;  // of a full panel
static constexpr int kMaxTileRows =
    8;  // of a narrower one, limited by the row pointers in general registers

static constexpr int max_rows(int vectors) {
  return vectors == kPanelVectors ? kTileRows : kMaxTileRows;
}

/// Panels side by side in a tile of few rows, which would otherwise wait for its own sums.
static constexpr int panels_of(int64_t rows) { return rows == 1 ? 4 : rows == 2 ? 2 : 1; }

/// Where a tile's sums go.
struct TileOutput {
  float* c;
  int64_t ldc;
  int64_t cols;       // the last vector may be partly outside
  const float* bias;  // null unless this chunk of K is the last
  bool accumulate;    // continue from the sums in c
};

/// One tile over one chunk of K: taps [0, n_taps) of k elements each.
struct TileArgs {
  const float* const* a;  // row pointers, those of the next tap a_stride further
  int64_t a_stride;
  int64_t n_taps;
  int64_t a_offset;  // first k within each row
  int64_t k;
  const float* b;  // P panels of [n_taps * k][V * kLanes]: rows b_step, panels b_panel_step apart
  int64_t b_step;
  int64_t b_panel_step;
  const float* next_b;  // each step of k fetches a line of it into the second-level cache
  TileOutput out;
};

template <int R, int V>
static inline void start_sums(const TileOutput& t, F32 (&sum)[R][V]) {
  if (!t.accumulate) {
    for (int r = 0; r < R; ++r) {
      for (int v = 0; v < V; ++v) sum[r][v] = zero();
    }
    return;
  }
  const int64_t last = t.cols - (V - 1) * kLanes;
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    const float* row = t.c + r * t.ldc;
#pragma GCC unroll 16
    for (int v = 0; v < V - 1; ++v) sum[r][v] = load(row + v * kLanes);
    const float* end = row + (V - 1) * kLanes;
    sum[r][V - 1] = last == kLanes ? load(end) : load_n(end, last);
  }
}

template <int R, int V>
static inline void store_sums(const TileOutput& t, F32 (&sum)[R][V]) {
  const int64_t last = t.cols - (V - 1) * kLanes;
  if (t.bias != nullptr) {
#pragma GCC unroll 16
    for (int v = 0; v < V; ++v) {
      const float* p = t.bias + v * kLanes;
      const F32 bias = v < V - 1 || last == kLanes ? load(p) : load_n(p, last);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r][v] = add(sum[r][v], bias);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    float* row = t.c + r * t.ldc;
#pragma GCC unroll 16
    for (int v = 0; v < V - 1; ++v) store(row + v * kLanes, sum[r][v]);
    float* end = row + (V - 1) * kLanes;
    if (last == kLanes) {
      store(end, sum[r][V - 1]);
    } else {
      store_n(end, sum[r][V - 1], last);
    }
  }
}

template <int R, int V, int P = 1>
static void gemm_tile(const TileArgs& t) {
  F32 sum[R][P * V];
  start_sums(t.out, sum);

  const float* b = t.b;
  const float* next_b = t.next_b;
  const int64_t b_step = t.b_step, b_panel_step = t.b_panel_step;
  const float* const* taps = t.a;
  for (int64_t tap = 0; tap < t.n_taps; ++tap, taps += t.a_stride) {
    const float* a[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) a[r] = taps[r] + t.a_offset;
    for (int64_t k = 0; k < t.k; ++k, b += b_step) {
      // Few rows use B as fast as it comes: the hardware's own fetching is ahead of this one.
      if constexpr (R >= 4) {
        _mm_prefetch(next_b, _MM_HINT_T1);
        next_b += 16;
      }
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) {
        F32 rB[V];
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) rB[v] = load(b + p * b_panel_step + v * kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const F32 rA = set1(a[r][k]);
#pragma GCC unroll 4
          for (int v = 0; v < V; ++v) sum[r][p * V + v] = fma(rA, rB[v], sum[r][p * V + v]);
        }
      }
    }
  }
  store_sums(t.out, sum);
}

/// copy[k][width] = b[k][cols], 0 in the columns past cols; width is cols rounded up to whole
/// vectors.
static inline void copy_panel(const float* b, int64_t ldb, int64_t k, int64_t cols, int64_t width,
                              float* copy) {
  for (; k > 0; --k, b += ldb, copy += width) {
    int64_t j = 0;
    for (; j + kLanes <= cols; j += kLanes) store(copy + j, load(b + j));
    if (j < cols) store(copy + j, load_n(b + j, cols - j));
  }
}

using TileFn = void (*)(const TileArgs&);

template <int V>
static inline TileFn tile_fn_of(int rows) {
  switch (rows) {
    case 1:
      return gemm_tile<1, V>;
    case 2:
      return gemm_tile<2, V>;
    case 3:
      return gemm_tile<3, V>;
    case 4:
      return gemm_tile<4, V>;
    case 5:
      return gemm_tile<5, V>;
    case 6:
      return gemm_tile<6, V>;
    case 7:
      return gemm_tile < max_rows(V) >= 7 ? 7 : 1, V > ;
    default:
      return gemm_tile < max_rows(V) >= 8 ? 8 : 1, V > ;
  }
}

/// The tile function for one panel of 1 <= vectors <= kPanelVectors and 1 <= rows <=
/// max_rows(vectors), or for panels_of(rows) full panels.
static inline TileFn tile_fn(int rows, int vectors) {
  if (vectors == 1) return tile_fn_of<1>(rows);
  if (vectors == 2) return tile_fn_of<2>(rows);
  if (vectors == 3) return tile_fn_of < kPanelVectors == 4 ? 3 : 1 > (rows);
  if (vectors == 4) return tile_fn_of < kPanelVectors == 4 ? 4 : 1 > (rows);
  return nullptr;
}
static inline TileFn wide_tile_fn(int rows) {
  if (rows == 1) return gemm_tile<1, kPanelVectors, panels_of(1)>;
  return gemm_tile<2, kPanelVectors, panels_of(2)>;
}

}  // namespace tw::cpu::TW_ISA
