// The warp tile of the streaming family: 32 weight rows against up to 64 rows of x, one 64-wide
// chunk of K at a time. Weights stand on the M side of the tensor core, so that 1 to 64 rows of x
// are one algorithm: a row of x is a column of the instruction, and columns never mix. The K order
// inside a chunk is the order of the instructions below; it depends on nothing.
#pragma once

#include "backends/cuda/ptx/matrix.cuh"

#include <cstdint>

namespace tw::cuda {

inline constexpr int kChunkK = 64;  // elements: one 128-byte row of the copy engine's swizzle
inline constexpr int kWarpRows =
    32;  // weight rows of a warp: two instruction tiles share each load of x
inline constexpr int kInstructionRows = 16;
inline constexpr int kColumnTile = 8;  // rows of x in one instruction
inline constexpr int kSwizzleRowBytes = kChunkK * 2;
inline constexpr int kWeightChunkBytes = kWarpRows * kSwizzleRowBytes;

/// fp32 sums of a warp tile. sums[i][j] is the 16x8 tile of weight rows 16i.. and x rows 8j..; a
/// lane holds rows l / 4 (elements 0, 1) and l / 4 + 8 (elements 2, 3), columns 2 * (l % 4) and the
/// next.
template <int kColumnTiles>
struct StreamSums {
  float sums[2][kColumnTiles][4];  // (M_TILE, N_TILE, FRAGMENT)

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (auto& row : sums)
#pragma unroll
      for (auto& tile : row)
#pragma unroll
        for (float& sum : tile) sum = 0;
  }
};

/// Byte offsets of this lane's ldmatrix row inside a chunk. The copy engine stores the 16-byte
/// piece p of row r at piece p ^ (r % 8), which spreads the eight rows of a matrix over all banks.
/// A step along K flips bits 5 and 6 of the address, so one XOR a load is all the arithmetic in the
/// loop.
struct StreamLane {
  uint32_t weight, x;

  template <int kColumnTiles>
  static __device__ __forceinline__ StreamLane make(uint32_t lane) {
    const uint32_t swizzle = lane % 8;
    const uint32_t weight_row = lane % 16;
    // One column tile: the four matrices of a load are pieces 0..3 of rows 0..7, two steps of K at
    // once. More: pieces 0 and 1 of rows 0..7, then of rows 8..15.
    const uint32_t x_row = kColumnTiles == 1 ? lane % 8 : lane % 8 + lane / 16 * 8;
    const uint32_t x_piece = kColumnTiles == 1 ? lane / 8 : lane / 8 % 2;
    return {weight_row * kSwizzleRowBytes + ((lane / 16 ^ swizzle) << 4),
            x_row * kSwizzleRowBytes + ((x_piece ^ swizzle) << 4)};
  }
};

/// Adds one chunk: sums += weights[32, 64] x x[8 * kColumnTiles, 64]^T. Both chunks lie in shared
/// memory as the copy engine's 128-byte swizzle leaves them, 1024-byte aligned. Calls `give_back()`
/// as soon as the weights are in registers, and `x_address()` only when x is needed: the sooner a
/// slot of weights is asked for again, the more of the ring is in flight, and a warp that waits for
/// x has a chunk more than its ring.
template <int kColumnTiles, class GiveBack, class XAddress>
__device__ __forceinline__ void add_chunk(StreamSums<kColumnTiles>& out, StreamLane lane,
                                          uint32_t weight_chunk, const GiveBack& give_back,
                                          const XAddress& x_address) {
  constexpr uint32_t kTileBytes = kInstructionRows * kSwizzleRowBytes;
  constexpr int kSteps = kChunkK / 16;
  constexpr int kStepsHeld = kColumnTiles <= 4 ? kSteps : 1;  // what the sums leave registers for
  const uint32_t weight = weight_chunk + lane.weight;
  uint32_t x = 0;
#pragma unroll
  for (int first = 0; first < kSteps; first += kStepsHeld) {
    uint32_t rW[kStepsHeld][2][4];  // (STEP, M_TILE, FRAGMENT)
#pragma unroll
    for (int i = 0; i < kStepsHeld; ++i) {
      ptx::ldmatrix_x4(rW[i][0], weight ^ ((first + i) << 5));
      ptx::ldmatrix_x4(rW[i][1], (weight + kTileBytes) ^ ((first + i) << 5));
    }
    if (first + kStepsHeld == kSteps) give_back();
    if (first == 0) x = x_address() + lane.x;
    constexpr int kPairs = kColumnTiles == 1 ? 1 : kColumnTiles / 2;
    uint32_t rX[kPairs][4];  // (PAIR_OF_N_TILES, FRAGMENT)
#pragma unroll
    for (int i = 0; i < kStepsHeld; ++i) {
      const int step = first + i;
      if constexpr (kColumnTiles == 1) {
        if (step % 2 == 0) ptx::ldmatrix_x4(rX[0], x ^ (step << 5));
        const int half = step % 2 * 2;
        ptx::mma_m16n8k16_bf16(out.sums[0][0], rW[i][0], rX[0][half], rX[0][half + 1]);
        ptx::mma_m16n8k16_bf16(out.sums[1][0], rW[i][1], rX[0][half], rX[0][half + 1]);
      } else {
        // All loads of a step before its products, so that one latency covers them: -3 us of 146
        // for the chain of four products at 64 rows of x (H200, bench).
#pragma unroll
        for (int pair = 0; pair < kPairs; ++pair)
          ptx::ldmatrix_x4(rX[pair], (x + pair * kTileBytes) ^ (step << 5));
#pragma unroll
        for (int pair = 0; pair < kPairs; ++pair) {
          ptx::mma_m16n8k16_bf16(out.sums[0][2 * pair], rW[i][0], rX[pair][0], rX[pair][1]);
          ptx::mma_m16n8k16_bf16(out.sums[1][2 * pair], rW[i][1], rX[pair][0], rX[pair][1]);
          ptx::mma_m16n8k16_bf16(out.sums[0][2 * pair + 1], rW[i][0], rX[pair][2], rX[pair][3]);
          ptx::mma_m16n8k16_bf16(out.sums[1][2 * pair + 1], rW[i][1], rX[pair][2], rX[pair][3]);
        }
      }
    }
  }
}

}  // namespace tw::cuda
