// gemm.cpp: f32 matrix products: cache blocking over gemm_tile.h for packed, row-major and indirect
// operands.
#include "backends/cpu/kernels/gemm/gemm_tile.h"
#include "backends/cpu/kernels/tables.h"

namespace tw::cpu::TW_ISA {
namespace {

// A chunk of a panel of B (kChunk * kPanel * 4 bytes) takes about half of a 48 KiB first-level
// cache.
constexpr int64_t kChunk = kLanes == 16 ? 192 : 384;
// A block of rows of A stays in the second-level cache while all panels of B pass over it.
constexpr int64_t kBlockBytes = int64_t{1} << 20;
// From this many rows on a panel of a row-major B is copied before use.
constexpr int64_t kCopyRows = 24;
constexpr int64_t kMinBlockRows = 48, kMaxBlockRows = 240;  // multiples of 6 and 8

int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }

/// What the blocking needs to know of a product; A is either behind pointers or plain.
struct Product {
  int64_t m, n, n_taps, k_per_tap;
  const float* const* a_rows;  // null when A is plain
  int64_t a_stride;
  const float* a;
  int64_t lda;
  const float* b;
  bool packed_b;
  int64_t ldb;  // of a row-major B; 0: one row for all
  const float* bias;
  float* c;
  int64_t ldc;
};

/// Part of K: whole taps, or a piece of one tap.
struct Chunk {
  int64_t tap, n_taps, offset, k;
  bool last;
};

Chunk chunk_at(const Product& p, int64_t tap, int64_t offset) {
  Chunk c = {.tap = tap, .n_taps = 1, .offset = offset, .k = p.k_per_tap, .last = false};
  if (p.k_per_tap == 0) {
    c.n_taps = p.n_taps;
  } else if (p.k_per_tap <= kChunk) {
    c.n_taps = min(p.n_taps - tap, kChunk / p.k_per_tap);
  } else {
    // Equal pieces, so that no short one is left over.
    const int64_t left = p.k_per_tap - offset;
    const int64_t pieces = (left + kChunk - 1) / kChunk;
    c.k = (left + pieces - 1) / pieces;
  }
  c.last = c.tap + c.n_taps >= p.n_taps && c.offset + c.k >= p.k_per_tap;
  return c;
}

Chunk first_chunk(const Product& p) { return chunk_at(p, 0, 0); }

Chunk next_chunk(const Product& p, const Chunk& done) {
  const int64_t k_end = done.offset + done.k;
  return k_end < p.k_per_tap ? chunk_at(p, done.tap, k_end)
                             : chunk_at(p, done.tap + done.n_taps, 0);
}

/// Rows [row, row + rows) times the columns of `t` over one chunk.
void multiply_rows(const Product& p, TileArgs t, int64_t row, int64_t rows, const Chunk& chunk) {
  const int vectors = int((t.out.cols + kLanes - 1) / kLanes);
  const bool wide = t.out.cols > kPanel;
  const int64_t limit = wide ? rows : max_rows(vectors);
  const float* row_pointers[kMaxTileRows];
  while (rows > 0) {
    // The last two tiles share their rows evenly: a tile of one row would wait for its own sums.
    const int64_t now = rows >= 2 * limit ? limit : rows > limit ? (rows + 1) / 2 : rows;
    if (p.a_rows != nullptr) {
      t.a = p.a_rows + chunk.tap * p.a_stride + row;
      t.a_stride = p.a_stride;
    } else {
      for (int64_t r = 0; r < now; ++r) row_pointers[r] = p.a + (row + r) * p.lda;
      t.a = row_pointers;
    }
    const TileFn tile = wide ? wide_tile_fn(int(now)) : tile_fn(int(now), vectors);
    tile(t);
    row += now;
    rows -= now;
    t.out.c += now * p.ldc;
    t.next_b += 16 * chunk.n_taps * chunk.k;
  }
}

/// Rows [row, row + rows) times columns [col, col + cols), which are one panel or panels_of(rows)
/// full ones.
void multiply_block(const Product& p, int64_t row, int64_t rows, int64_t col, int64_t cols) {
  alignas(64) float copy[kChunk * kPanel];
  const int64_t k_total = p.n_taps * p.k_per_tap;
  const int64_t width = cols > kPanel ? kPanel : (cols + kLanes - 1) / kLanes * kLanes;
  // A row-major B spreads a panel over many pages, which many rows repay gathering. A part of a
  // vector is always copied, so that nothing past its rows is read.
  const bool copy_b = !p.packed_b && (rows >= kCopyRows || cols % kLanes != 0);
  for (Chunk chunk = first_chunk(p);; chunk = next_chunk(p, chunk)) {
    const int64_t k0 = chunk.tap * p.k_per_tap + chunk.offset;
    const int64_t k = chunk.n_taps * chunk.k;
    TileArgs t = {};
    t.n_taps = chunk.n_taps;
    t.a_offset = chunk.offset;
    t.k = chunk.k;
    if (p.packed_b) {
      t.b = p.b + col * k_total + k0 * width;
      t.b_step = width;
      t.b_panel_step = kPanel * k_total;
      t.next_b = t.b + k * width;
    } else {
      t.b = p.b + k0 * p.ldb + col;
      t.b_step = p.ldb;
      t.b_panel_step = kPanel;
      t.next_b = t.b;
    }
    if (copy_b) {
      copy_panel(t.b, p.ldb, k, cols, width, copy);
      t.b = copy;
      t.b_step = width;
      t.next_b = copy;
    }
    t.out.bias = p.bias != nullptr && chunk.last ? p.bias + col : nullptr;
    t.out.c = p.c + row * p.ldc + col;
    t.out.ldc = p.ldc;
    t.out.cols = cols;
    t.out.accumulate = chunk.tap + chunk.offset != 0;
    multiply_rows(p, t, row, rows, chunk);
    if (chunk.last) return;
  }
}

void multiply(const Product& p) {
  const int64_t k_total = p.n_taps * p.k_per_tap;
  const int64_t fit = kBlockBytes / (4 * (k_total > 0 ? k_total : 1)) / 24 * 24;
  const int64_t block = fit < kMinBlockRows ? kMinBlockRows : min(fit, kMaxBlockRows);
  const int64_t wide = kPanel * panels_of(p.m);
  for (int64_t row = 0; row < p.m; row += block) {
    const int64_t rows = min(block, p.m - row);
    for (int64_t col = 0; col < p.n;) {
      const int64_t left = p.n - col;
      int64_t cols = left >= wide ? wide : min(kPanel, left);
      // The part of a vector at the end of a row-major B goes alone.
      if (!p.packed_b && rows < kCopyRows && cols > kLanes) cols -= cols % kLanes;
      multiply_block(p, row, rows, col, cols);
      col += cols;
    }
  }
}

Product plain_product(const GemmArgs& g) {
  return {.m = g.m,
          .n = g.n,
          .n_taps = 1,
          .k_per_tap = g.k,
          .a_rows = nullptr,
          .a_stride = 0,
          .a = g.a,
          .lda = g.lda,
          .b = g.b,
          .packed_b = true,
          .ldb = 0,
          .bias = g.bias,
          .c = g.c,
          .ldc = g.ldc};
}

}  // namespace

void gemm(const GemmArgs& args) { multiply(plain_product(args)); }

void gemm_row_major_b(const GemmArgs& args) {
  Product p = plain_product(args);
  p.packed_b = false;
  p.ldb = args.ldb;
  multiply(p);
}

void igemm(const IgemmArgs& args) {
  multiply({.m = args.rows,
            .n = args.n,
            .n_taps = args.n_taps,
            .k_per_tap = args.n_taps > 0 ? args.k_per_tap : 0,
            .a_rows = args.a,
            .a_stride = args.a_stride,
            .a = nullptr,
            .lda = 0,
            .b = args.b,
            .packed_b = true,
            .ldb = 0,
            .bias = args.bias,
            .c = args.c,
            .ldc = args.ldc});
}

}  // namespace tw::cpu::TW_ISA
