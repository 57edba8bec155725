// What becomes of the sums of a warp tile of the streaming GEMM: y when K is whole, else partial
// sums that the blocks of the launch share out to add.
//
// | what is waited for | who writes it           | who waits          | then visible         |
// |--------------------|-------------------------|--------------------|----------------------|
// | each word of the   | the lane that summed it | the lane that adds | that word: it is its |
// | partial sums       | once, over kNotYet      | it, on the word    | own signal, no fence |
//
// Between launches every word of the scratch is kNotYet: the lane that adds a word writes kNotYet
// back. No sum is ever kNotYet (a NaN with all bits set), so no counter is needed, and all weights
// may share a scratch.
#pragma once

#include "backends/cuda/mma/stream_tile.cuh"
#include "backends/cuda/ptx/matrix.cuh"
#include "backends/cuda/ptx/sync.cuh"
#include "backends/cuda/tasks/stuck.cuh"

#include <cuda.h>
#include <cuda_bf16.h>

#include <cstdint>

namespace tw::cuda {

/// What a launch is given. The maps box weights by (64, 32) and x by (64, max_m), swizzled.
struct GemmStreamParams {
  CUtensorMap w_map, x_map;
  const __nv_bfloat16* bias;
  __nv_bfloat16* y;
  int64_t y_pitch;
  float4* partials;  // (SLICE, WARP_TILE, FRAGMENT_TILE, LANE)
  StuckReport* mailbox;
  int m, n;
  int warp_tiles, k_chunks, k_slices;
};

/// Where part `i` of `parts` nearly equal parts of `whole` begins.
__device__ __forceinline__ int part_begin(uint32_t whole, uint32_t i, uint32_t parts) {
  return static_cast<int>(whole * i / parts);
}

/// Adds the bias, rounds, and writes the 16x8 tile of y whose first weight row is `n` and first x
/// row `m`.
__device__ __forceinline__ void store_tile(const GemmStreamParams& p, int n, int m, float4 sum) {
  const int lane = threadIdx.x % 32;
  if (p.bias != nullptr) {
    const int row = n + lane / 4;
    const float low = row < p.n ? __bfloat162float(p.bias[row]) : 0;
    const float high = row + 8 < p.n ? __bfloat162float(p.bias[row + 8]) : 0;
    sum = {sum.x + low, sum.y + low, sum.z + high, sum.w + high};
  }
  // Sums stand as [weight row][x row]; y is [x row][weight row]. Transposed, a lane has two
  // neighbours of a row.
  const __nv_bfloat162 low = __floats2bfloat162_rn(sum.x, sum.y);
  const __nv_bfloat162 high = __floats2bfloat162_rn(sum.z, sum.w);
  const uint32_t halves[2] = {ptx::movmatrix_trans(reinterpret_cast<const uint32_t&>(low)),
                              ptx::movmatrix_trans(reinterpret_cast<const uint32_t&>(high))};
  m += lane / 4;
  n += lane % 4 * 2;
  if (m >= p.m) return;
  __nv_bfloat16* row = p.y + m * p.y_pitch;
#pragma unroll
  for (int half = 0; half < 2; ++half, n += 8) {
    const auto& pair = reinterpret_cast<const __nv_bfloat162&>(halves[half]);
    if (n + 1 < p.n)
      *reinterpret_cast<__nv_bfloat162*>(row + n) = pair;
    else if (n < p.n)
      row[n] = pair.x;
  }
}

/// Partial sums of fragment tile `fragment` of `warp_tile` in `slice`, for this lane.
template <int kColumnTiles>
__device__ __forceinline__ float4* partial_at(const GemmStreamParams& p, int slice, int warp_tile,
                                              int fragment) {
  const int64_t tile = int64_t{slice} * p.warp_tiles + warp_tile;
  return p.partials + (tile * 2 * kColumnTiles + fragment) * 32 + threadIdx.x % 32;
}

/// The word that stands for a sum that has not arrived.
inline constexpr uint32_t kNotYet = 0xffffffffu;

__device__ __forceinline__ bool arrived(float4 sum) {
  return __float_as_uint(sum.x) != kNotYet && __float_as_uint(sum.y) != kNotYet &&
         __float_as_uint(sum.z) != kNotYet && __float_as_uint(sum.w) != kNotYet;
}

/// A NaN of x or of a weight may have any bits; as a sum it must not read as kNotYet.
__device__ __forceinline__ float storable(float sum) {
  return __float_as_uint(sum) == kNotYet ? __uint_as_float(0x7fffffffu) : sum;
}

/// Hands the sums of a warp tile on: to y when K is whole, else to the block that adds the slices.
template <int kColumnTiles>
__device__ __forceinline__ void finish_tile(const GemmStreamParams& p, int slice, int warp_tile,
                                            const StreamSums<kColumnTiles>& sums) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
      const auto& tile = sums.sums[i][j];
      if (j * kColumnTile >= p.m) continue;
      if (p.k_slices == 1)
        store_tile(p, warp_tile * kWarpRows + i * kInstructionRows, j * kColumnTile,
                   {tile[0], tile[1], tile[2], tile[3]});
      else
        ptx::st_relaxed_gpu(
            partial_at<kColumnTiles>(p, slice, warp_tile, i * kColumnTiles + j),
            {storable(tile[0]), storable(tile[1]), storable(tile[2]), storable(tile[3])});
    }
}

/// Takes one partial sum, waiting for it if need be, and leaves its place as it was before.
__device__ __forceinline__ float4 take_partial(const GemmStreamParams& p, float4* place,
                                               float4 seen) {
  for (uint32_t tries = 0; !arrived(seen); ++tries) {
    if (tries == kSpinLimit) report_stuck(p.mailbox, StuckAt::kPartialSums, 0);
    seen = ptx::ld_relaxed_gpu(place);
  }
  const float empty = __uint_as_float(kNotYet);
  ptx::st_relaxed_gpu(place, {empty, empty, empty, empty});
  return seen;
}

/// Adds the slices of this block's part of the product in ascending order and writes y. The blocks
/// share out the 16x8 tiles of y evenly, whatever they have summed themselves.
template <int kColumnTiles>
__device__ __forceinline__ void combine_slices(const GemmStreamParams& p) {
  constexpr int kInFlight = 4;
  const int columns = (p.m + kColumnTile - 1) / kColumnTile;
  const int tiles = p.warp_tiles * (kWarpRows / kInstructionRows) * columns;
  const int end = part_begin(tiles, blockIdx.x + 1, gridDim.x);
  for (int i = part_begin(tiles, blockIdx.x, gridDim.x) + threadIdx.x / 32; i < end;
       i += blockDim.x / 32) {
    const int row_tile = i / columns, column = i % columns;
    const int warp_tile = row_tile / 2, fragment = row_tile % 2 * kColumnTiles + column;
    float4 sum = {0, 0, 0, 0};
    for (int slice = 0; slice < p.k_slices; slice += kInFlight) {
      float4 part[kInFlight];
#pragma unroll
      for (int j = 0; j < kInFlight; ++j)
        if (slice + j < p.k_slices)
          part[j] =
              ptx::ld_relaxed_gpu(partial_at<kColumnTiles>(p, slice + j, warp_tile, fragment));
#pragma unroll
      for (int j = 0; j < kInFlight; ++j)
        if (slice + j < p.k_slices) {
          part[j] =
              take_partial(p, partial_at<kColumnTiles>(p, slice + j, warp_tile, fragment), part[j]);
          sum = {sum.x + part[j].x, sum.y + part[j].y, sum.z + part[j].z, sum.w + part[j].w};
        }
    }
    __syncwarp();
    store_tile(p, row_tile * kInstructionRows, column * kColumnTile, sum);
  }
}

}  // namespace tw::cuda
