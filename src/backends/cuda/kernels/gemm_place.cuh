// gemm_place.cuh: what a kernel of the gemm family is specialised on, and which tile a block
// computes.
#pragma once

enum class Slicing {
  kOne,
  kSerial,
  kCluster
};

/// What a kernel of this family is specialised on beside its operands.
struct GemmConfig {
  int rows, cols;        // of a tile
  int warps_m, warps_n;  // that share it
  int stages;            // of the ring
  Slicing slicing;
  int cluster;  // blocks, where slicing is kCluster
  int batch_dims;
  int vector;             // columns that the epilogue handles at a time
  bool producer = false;  // a warp of its own asks for the boxes (gemm_produced.cuh)
  TW_DEVICE constexpr int threads() const { return 32 * warps_m * warps_n; }
  TW_DEVICE constexpr int stage_bytes() const { return (rows + cols) * kRowBytes; }
  /// Floats from a row of sums to the next: 8 modulo 32 makes the stores of fragments free of
  /// conflicts.
  TW_DEVICE constexpr int sums_pitch() const { return cols + 8; }
};

/// Which tile a block computes, of which batch, and its part of K.
template <GemmConfig kCfg>
struct Place {
  uint32_t batch;
  int row, col;  // of the tile's first element
  int slice;

  template <class Params>
  TW_DEVICE Place(const Params& p) {
    constexpr uint32_t kBlocks = kCfg.slicing == Slicing::kCluster ? kCfg.cluster : 1;
    const uint32_t index = blockIdx.x / kBlocks;
    slice = static_cast<int>(blockIdx.x % kBlocks);
    const uint32_t tiles_m = p.tiles_m, tiles_n = p.tiles_n, tiles = tiles_m * tiles_n;
    batch = kCfg.batch_dims > 0 ? index / tiles : 0;
    const uint32_t tile = index - batch * tiles;
    // Down columns of at most kGroup tiles: blocks that run together share rows and columns in the
    // L2.
    constexpr uint32_t kGroup = 8;
    const uint32_t group = tile / (kGroup * tiles_n);
    const uint32_t height = min(kGroup, tiles_m - group * kGroup);
    const uint32_t in_group = tile - group * kGroup * tiles_n;
    row = static_cast<int>(group * kGroup + in_group % height) * kCfg.rows;
    col = static_cast<int>(in_group / height) * kCfg.cols;
  }
};
