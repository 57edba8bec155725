// gemm_config.h: how a product is cut into tiles, and what that leaves to choose. The order of its
// sums is not among it (see slices).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "backends/cuda/tasks/gemm.h"

namespace tw::cuda {

inline constexpr int64_t kProcessors = 132;  // of an H100 or H200

/// A tile and who computes it (kernels/gemm.cuh).
struct TileConfig {
  const char* name;
  int rows, cols, warps_m, warps_n, stages;
  int blocks;             // that a multiprocessor should have room for
  bool groups = false;    // products of warpgroups (kernels/wgmma.cuh); warps_m counts four a group
  bool producer = false;  // a warp of its own asks for boxes (kernels/gemm_produced.cuh)

  int threads() const { return 32 * warps_m * warps_n; }  // that sum
  int block_threads() const { return threads() + (producer ? 32 : 0); }
  int stage_bytes() const { return (rows + cols) * 128; }
  /// Where operands come as boxes: a barrier a stage, two where a warp of its own asks.
  int barrier_bytes() const { return stages * (producer ? 16 : 8); }
  /// Of a block that meets at most so many tiles of K.
  int shared_bytes(int64_t k_tiles = INT32_MAX) const;
};
std::span<const TileConfig> tile_configs();

/// The sizes that decide.
struct ProductShape {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int elem_bytes = 2;
  bool tensor_cores = true;
  bool gathers = false;  // an operand passes through registers
  bool groups = false;   // products of warpgroups: a class has them in all of its tiles or in none
  int vector = 8;        // columns that the epilogue handles at a time
  bool boxes = false;    // both operands come as boxes

  int64_t k_tiles() const { return (k * elem_bytes + 127) / 128; }
};

/// Most rows of a gemm of the decode class: its numeric class is decode or, with more, prefill.
inline constexpr int64_t kDecodeRows = 64;
/// Into how many slices K is cut for a sum: 1, 2, 3 or 4. Rows of one product are those that
/// a weight is sure to meet: more than kDecodeRows for a gemm, an image's pixels for a conv.
int slices(int64_t rows, int64_t n, int64_t k_tiles);
/// Whether the time of a product of a few rows is that of reading its weight (tasks/stream.h).
bool streams(int64_t n, int64_t k, int elem_bytes);
/// The same for gemms of the decode class: 8 where a weight streams, a warp each.
int decode_slices(int64_t n, int64_t k, int elem_bytes);

struct GemmChoice {
  const TileConfig* tile = nullptr;
  bool cluster = false;  // slices side by side in a cluster; else one after another
};
/// Record::variant: 0 is the choice of the cost model, 1 + 2 * index + (1 for slices one after
/// another) a given one. What a shape cannot have falls back to what it can.
GemmChoice choose_tile(const ProductShape& shape, int n_slices, uint8_t variant);
/// About how many microseconds the product takes this way on an H200.
double estimate_us(const ProductShape& shape, int n_slices, const GemmChoice& choice);

}  // namespace tw::cuda
