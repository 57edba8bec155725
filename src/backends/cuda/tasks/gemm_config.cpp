#include "backends/cuda/tasks/gemm_config.h"

#include <algorithm>

namespace tw::cuda {
namespace {

// One figure a column: rows, columns, warps along each, stages, blocks a multiprocessor.
constexpr TileConfig kTiles[] = {
    {"128x256", 128, 256, 2, 4, 3, 1},  // least traffic: products that fill the machine many times
    {"256x128", 256, 128, 4, 2, 3, 1},
    {"128x128", 128, 128, 2, 4, 3, 2},
    {"128x64", 128, 64, 4, 2, 4, 2},
    {"64x128", 64, 128, 2, 4, 4, 2},
    {"64x64", 64, 64, 2, 2, 5, 2},
    {"128x32", 128, 32, 4, 1, 4, 2},
    {"64x32", 64, 32, 2, 1, 6, 3},
    {"32x64", 32, 64, 1, 2, 6, 3},
    {"32x32", 32, 32, 1, 2, 6, 4},
    {"16x64", 16, 64, 1, 4, 6, 3},  // a few rows: the weight is all that counts
    {"16x32", 16, 32, 1, 2, 8, 4},
    {"g256x128", 256, 128, 8, 1, 4, 1, true},
    {"g128x256", 128, 256, 8, 1, 4, 1, true},
    {"g128x128", 128, 128, 8, 1, 3, 2, true},
    {"g128x64", 128, 64, 8, 1, 4, 2, true},
    {"g64x128", 64, 128, 4, 1, 4, 2, true},
    {"g64x64", 64, 64, 4, 1, 5, 2, true},
    {"g64x32", 64, 32, 4, 1, 6, 3, true},
    {"g64x256", 64, 256, 4, 1, 4, 1, true},
    // One block a multiprocessor: the ring must hold what it takes to get there and back.
    {"g128x128 deep", 128, 128, 8, 1, 6, 1, true},
    {"g128x64 deep", 128, 64, 8, 1, 8, 1, true},
    {"g64x128 deep", 64, 128, 4, 1, 8, 1, true},
    {"g64x64 deep", 64, 64, 4, 1, 12, 1, true},
    {"g128x128 produced", 128, 128, 8, 1, 6, 1, true, true},
};

constexpr double kCyclesPerUs = 1700;
constexpr int kSharedPerProcessor = 227 * 1024;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::span<const TileConfig> tile_configs() { return kTiles; }

int TileConfig::shared_bytes(int64_t k_tiles) const {
  const int filled = static_cast<int>(std::min<int64_t>(stages, k_tiles));
  return std::max(filled * stage_bytes(), rows * (cols + 8) * 4);
}

bool streams(int64_t n, int64_t k, int elem_bytes) {
  return elem_bytes == 2 && k >= 1024 && n * k >= (1 << 20);
}

int slices(int64_t rows, int64_t n, int64_t k_tiles) {
  // As many as fill the machine once, of at least two tiles of K each.
  const int64_t tiles = ceil_div(rows, 64) * ceil_div(n, 64);
  int best = 1;
  for (const int s : {2, 3, 4})
    if (tiles * s <= kProcessors && k_tiles >= 2 * s) best = s;
  return best;
}

int decode_slices(int64_t n, int64_t k, int elem_bytes) {
  return streams(n, k, elem_bytes) ? 8 : slices(kDecodeRows, n, (k * elem_bytes + 127) / 128);
}

double estimate_us(const ProductShape& shape, int n_slices, const GemmChoice& choice) {
  const TileConfig& t = *choice.tile;
  const int64_t tiles = ceil_div(shape.m, t.rows) * ceil_div(shape.n, t.cols) * shape.batch;
  const int64_t parts = choice.cluster ? n_slices : 1;
  const int64_t blocks = tiles * parts;
  const double k_tiles = static_cast<double>(ceil_div(shape.k_tiles(), parts));
  // Multiply-adds a cycle of a multiprocessor; bytes a cycle from the L2, shared by all of them.
  const double rate = !shape.tensor_cores     ? 110
                      : t.groups              ? (t.cols >= 128  ? 1900
                                                 : t.cols == 64 ? 1300
                                                                : 700)
                      : shape.elem_bytes == 2 ? 1000
                                              : 450;
  const double multiply = t.rows * t.cols * (128.0 / shape.elem_bytes) / rate;
  const double busy = static_cast<double>(std::min(blocks, kProcessors));
  const double bytes_per_cycle = std::min(48.0, 3200.0 / busy);
  const double load = t.stage_bytes() / bytes_per_cycle;
  // One block alone on a multiprocessor cannot hide a tile's latency behind another's.
  const int64_t room = std::min<int64_t>(t.blocks, kSharedPerProcessor / (t.shared_bytes() + 1024));
  const int64_t per_processor = ceil_div(blocks, kProcessors);
  const double alone = 1000.0 / std::min<double>(t.stages - 1, std::max(1.0, k_tiles));
  const double step = std::max({multiply, load, per_processor > 1 ? alone / 2 : alone});
  const double waves = static_cast<double>(ceil_div(blocks, kProcessors * room));
  const double exchange =
      choice.cluster ? 2500 + t.rows * t.cols * 4 / 16.0 : t.rows * t.cols / 32.0;
  const double cycles =
      static_cast<double>(per_processor) * k_tiles * step + waves * (1500 + exchange);
  return cycles / kCyclesPerUs;
}

GemmChoice choose_tile(const ProductShape& shape, int n_slices, uint8_t variant) {
  const auto fits = [&](const GemmChoice& choice) {
    // A second set of sums needs registers, and so does what is gathered.
    if (choice.tile->groups != shape.groups) return false;
    if (choice.tile->producer && (!shape.boxes || n_slices > 1)) return false;
    if (choice.tile->cols > choice.tile->threads() * shape.vector)
      return false;  // a row has threads
    const int sums = choice.tile->rows * choice.tile->cols / choice.tile->threads();
    const bool twice = n_slices > 1 && !choice.cluster;
    const bool crowded = shape.gathers || !shape.tensor_cores || twice;
    if (twice && shape.groups && !shape.boxes && sums > 32) return false;  // loaders need some too
    return (!crowded || sums <= 64) && (!choice.cluster || n_slices > 1);
  };
  if (variant > 0) {
    const TileConfig& tile = kTiles[(variant - 1U) / 2 % std::size(kTiles)];
    for (const bool cluster : {variant % 2 == 1, variant % 2 == 0})
      if (fits({&tile, cluster})) return {&tile, cluster};
  }
  GemmChoice best;
  double best_us = 0;
  for (const TileConfig& tile : kTiles) {
    for (const bool cluster : {false, true}) {
      const GemmChoice choice{&tile, cluster};
      if (!fits(choice)) continue;
      const double us = estimate_us(shape, n_slices, choice);
      if (best.tile == nullptr || us < best_us) best = choice, best_us = us;
    }
  }
  return best;
}

}  // namespace tw::cuda
