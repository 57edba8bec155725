// gemm_sums.cuh: the sums of a tile in registers, whose operands are read from shared memory by the
// threads themselves. Those of warpgroups are in wgmma.cuh.
#pragma once

#include "gemm_place.cuh"

/// The sums of a warp's part of a tile, by the tensor core: fp16, bf16, or fp32 rounded to tf32.
template <class T, GemmConfig kCfg>
class TensorSums {
 public:
  TW_DEVICE TensorSums() {
    const int lane = threadIdx.x % 32, swizzle = lane % 8;
    a_row_ = (first_row() + lane % 16) * kRowBytes + ((lane / 16 ^ swizzle) << 4);
    b_row_ = (first_col() + lane % 8 + lane / 16 * 8) * kRowBytes + ((lane / 8 % 2 ^ swizzle) << 4);
    clear();
  }
  TW_DEVICE void clear() {
#pragma unroll
    for (auto& row : sums_)
#pragma unroll
      for (auto& tile : row)
#pragma unroll
        for (float& sum : tile) sum = 0;
  }
  TW_DEVICE void add(const TensorSums& other) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums_[i][j][e] += other.sums_[i][j][e];
  }

  /// Adds one tile of K: a step of the tensor core is two pieces.
  TW_DEVICE void multiply(uint32_t a_tile, uint32_t b_tile) {
#pragma unroll
    for (int step = 0; step < kPieces / 2; ++step) {
      uint32_t a[kM][4], b[kN / 2][4];
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        ldmatrix_x4(a[i], (a_tile + a_row_ + i * 16 * kRowBytes) ^ (step << 5));
#pragma unroll
        for (uint32_t& x : a[i]) Mma<T>::round(x);
      }
#pragma unroll
      for (int j = 0; j < kN / 2; ++j) {
        ldmatrix_x4(b[j], (b_tile + b_row_ + j * 16 * kRowBytes) ^ (step << 5));
#pragma unroll
        for (uint32_t& x : b[j]) Mma<T>::round(x);
      }
#pragma unroll
      for (int i = 0; i < kM; ++i)
#pragma unroll
        for (int j = 0; j < kN; ++j)
          Mma<T>::add(sums_[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }

  TW_DEVICE void store(uint32_t to) const {
    const int lane = threadIdx.x % 32;
    to += ((first_row() + lane / 4) * kCfg.sums_pitch() + first_col() + lane % 4 * 2) * 4;
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        const uint32_t at = to + (i * 16 * kCfg.sums_pitch() + j * 8) * 4;
        const float(&s)[4] = sums_[i][j];
        store_shared_8(at, {s[0], s[1]});
        store_shared_8(at + 8 * kCfg.sums_pitch() * 4, {s[2], s[3]});
      }
  }

 private:
  static constexpr int kWarpRows = kCfg.rows / kCfg.warps_m, kWarpCols = kCfg.cols / kCfg.warps_n;
  static constexpr int kM = kWarpRows / 16, kN = kWarpCols / 8;
  static_assert(kWarpRows % 16 == 0 && kWarpCols % 16 == 0);
  static TW_DEVICE int first_row() { return threadIdx.x / 32 / kCfg.warps_n * kWarpRows; }
  static TW_DEVICE int first_col() { return threadIdx.x / 32 % kCfg.warps_n * kWarpCols; }
  float sums_[kM][kN][4];  // (M_TILE, N_TILE, FRAGMENT)
  uint32_t a_row_, b_row_;
};

/// The same in fp32 throughout. Lane l holds rows l / 8, l / 8 + 4, .. and columns l % 8, l % 8 +
/// 8,
/// ..: neighbouring lanes read neighbouring rows of the tiles.
template <class T, GemmConfig kCfg>
class PlainSums {
 public:
  TW_DEVICE PlainSums() { clear(); }
  TW_DEVICE void clear() {
#pragma unroll
    for (auto& row : sums_)
#pragma unroll
      for (float& sum : row) sum = 0;
  }
  TW_DEVICE void add(const PlainSums& other) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j) sums_[i][j] += other.sums_[i][j];
  }

  TW_DEVICE void multiply(uint32_t a_tile, uint32_t b_tile) {
#pragma unroll 2
    for (int piece = 0; piece < kPieces; ++piece) {
      float4 b[kN];
#pragma unroll
      for (int j = 0; j < kN; ++j) b[j] = load_shared_16(b_tile + piece_offset(col(j), piece));
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        const float4 a = load_shared_16(a_tile + piece_offset(row(i), piece));
#pragma unroll
        for (int j = 0; j < kN; ++j) {
          float& sum = sums_[i][j];
          sum = fmaf(a.x, b[j].x, sum);
          sum = fmaf(a.y, b[j].y, sum);
          sum = fmaf(a.z, b[j].z, sum);
          sum = fmaf(a.w, b[j].w, sum);
        }
      }
    }
  }

  TW_DEVICE void store(uint32_t to) const {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j)
        store_shared_4(to + (row(i) * kCfg.sums_pitch() + col(j)) * 4, sums_[i][j]);
  }

 private:
  static constexpr int kWarpRows = kCfg.rows / kCfg.warps_m, kWarpCols = kCfg.cols / kCfg.warps_n;
  static constexpr int kM = kWarpRows / 4, kN = kWarpCols / 8;
  static TW_DEVICE int row(int i) {
    return threadIdx.x / 32 / kCfg.warps_n * kWarpRows + threadIdx.x % 32 / 8 + i * 4;
  }
  static TW_DEVICE int col(int j) {
    return threadIdx.x / 32 % kCfg.warps_n * kWarpCols + threadIdx.x % 8 + j * 8;
  }
  float sums_[kM][kN];
};
