// Small-M GEMM of the streaming family: device side. See gemm_stream.h for the meaning and the sum order.
//
// The weight is cut into warp tiles of 32 rows and K into k_slices slices. A block owns one slice of a run of
// warp tiles; its warps take them in rounds, each warp streaming one tile through its own ring while x goes
// through one ring that all share (weight_ring.cuh has the table of both). When K is cut, the blocks then share
// out the adding of the partial sums:
//
// | what is waited for | who writes it                  | who waits            | then visible               |
// |--------------------|--------------------------------|----------------------|----------------------------|
// | each word of the   | the lane that summed it, once, | the lane that adds   | that word: it is its own   |
// | partial sums       | over the word kNotYet          | it, on the word      | signal, no fence is needed |
//
// Between launches every word of the scratch is kNotYet: the lane that adds a word writes kNotYet back. No sum
// is ever kNotYet (a NaN with all bits set), so no counter is needed, and any weights may share a scratch.
//
// Weights are asked for before griddepcontrol.wait; x is read, y and the partial sums are written after it.
#pragma once

#include "backends/cuda/mma/stream_tile.cuh"
#include "backends/cuda/ptx/bulk_tensor.cuh"
#include "backends/cuda/ptx/sync.cuh"
#include "backends/cuda/tasks/gemm_stream.h"
#include "backends/cuda/tasks/weight_ring.cuh"

#include <cuda.h>

#include <cstdint>

namespace tw::cuda {

/// Everything an instance is specialised on.
struct GemmStreamConfig {
  int column_tiles = 1;         // room for 8 rows of x each
  int x_group = 1;              // chunks of x that are waited for and given back together
  int min_x_slots = 2;          // of x_group chunks; what the weight rings cannot use evenly comes on top
  int max_warps = 8;            // 32 weight rows each
  int ring_bytes = 112 * 1024;  // weights and x together
  int blocks_per_sm = 2;        // two, so that the next kernel's rings fill while this one runs

  constexpr int max_m() const { return column_tiles * kColumnTile; }
  constexpr int max_threads() const { return max_warps * 32; }
  constexpr int x_chunk_bytes() const { return max_m() * kSwizzleRowBytes; }
  constexpr int x_slot_bytes() const { return x_group * x_chunk_bytes(); }
  /// Slots of the ring of each of `warps` warps, and of the ring of x beside them.
  constexpr int weight_depth(int warps) const {
    return (ring_bytes - min_x_slots * x_slot_bytes()) / (warps * kWeightChunkBytes);
  }
  constexpr int x_depth(int warps) const {
    return (ring_bytes - warps * weight_depth(warps) * kWeightChunkBytes) / x_slot_bytes();
  }
  constexpr int smem_bytes() const { return ring_bytes + kMaxBarriers * kBarrierBytes; }

  static constexpr int kMaxBarriers = 64;
};

inline constexpr int kSmemPerSm = 228 * 1024;
inline constexpr int kSmemReservedPerBlock = 1024;

/// What a launch is given. The maps box weights by (64, 32) and x by (64, max_m), swizzled.
struct GemmStreamParams {
  CUtensorMap w_map, x_map;
  const __nv_bfloat16* bias;
  __nv_bfloat16* y;
  int64_t y_pitch;
  float4* partials;                                 // (SLICE, WARP_TILE, FRAGMENT_TILE, LANE)
  StuckReport* mailbox;
  int m, n;
  int warp_tiles, k_chunks, k_slices;
};

/// What this block owns: warp tiles [tile_begin, tile_end) of chunks [chunk_begin, chunk_end) of K, slice `slice`.
struct BlockShare {
  int slice, tile_begin, tile_end, chunk_begin, chunk_end;

  /// The slices share out the blocks as evenly as their number allows, and the blocks of a slice its tiles.
  static __device__ __forceinline__ BlockShare of(const GemmStreamParams& p) {
    const uint32_t block = blockIdx.x, k_slices = p.k_slices;
    const uint32_t runs = gridDim.x / k_slices, longer = gridDim.x % k_slices * (runs + 1);
    const bool is_longer = block < longer;
    const uint32_t slice_runs = is_longer ? runs + 1 : runs, at = is_longer ? block : block - longer;
    const uint32_t slice = at / slice_runs + (is_longer ? 0 : gridDim.x % k_slices), run = at % slice_runs;
    return {static_cast<int>(slice), part(p.warp_tiles, run, slice_runs), part(p.warp_tiles, run + 1, slice_runs),
            part(p.k_chunks, slice, k_slices), part(p.k_chunks, slice + 1, k_slices)};
  }

  /// Where part `i` of `parts` nearly equal parts of `whole` begins.
  static __device__ __forceinline__ int part(uint32_t whole, uint32_t i, uint32_t parts) {
    return static_cast<int>(whole * i / parts);
  }
};

/// Walks the chunks of every `blockDim.x / 32`-th tile of a share, K innermost, `kStep` chunks at a time: the
/// order in which they are summed.
template <int kStep>
class ChunkCursor {
 public:
  __device__ __forceinline__ ChunkCursor(const BlockShare& share, int first)
      : tile_(share.tile_begin + first), chunk_(share.chunk_begin) {}

  __device__ __forceinline__ bool done(const BlockShare& share) const { return tile_ >= share.tile_end; }
  __device__ __forceinline__ int column() const { return chunk_ * kChunkK; }
  __device__ __forceinline__ int row() const { return tile_ * kWarpRows; }
  __device__ __forceinline__ int chunks(const BlockShare& share) const {
    return min(kStep, share.chunk_end - chunk_);
  }
  __device__ __forceinline__ void advance(const BlockShare& share) {
    chunk_ += kStep;
    if (chunk_ < share.chunk_end) return;
    chunk_ = share.chunk_begin;
    tile_ += blockDim.x / 32;
  }

 private:
  int tile_, chunk_;
};

/// Adds the bias, rounds, and writes the 16x8 tile of y whose first weight row is `n` and first x row `m`.
__device__ __forceinline__ void store_tile(const GemmStreamParams& p, int n, int m, float4 sum) {
  const int lane = threadIdx.x % 32;
  if (p.bias != nullptr) {
    const int row = n + lane / 4;
    const float low = row < p.n ? __bfloat162float(p.bias[row]) : 0;
    const float high = row + 8 < p.n ? __bfloat162float(p.bias[row + 8]) : 0;
    sum = {sum.x + low, sum.y + low, sum.z + high, sum.w + high};
  }
  // Sums stand as [weight row][x row]; y is [x row][weight row]. Transposed, a lane has two neighbours of a row.
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
__device__ __forceinline__ float4* partial_at(const GemmStreamParams& p, int slice, int warp_tile, int fragment) {
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
        ptx::st_relaxed_gpu(partial_at<kColumnTiles>(p, slice, warp_tile, i * kColumnTiles + j),
                            {storable(tile[0]), storable(tile[1]), storable(tile[2]), storable(tile[3])});
    }
}

/// Takes one partial sum, waiting for it if need be, and leaves its place as it was before.
__device__ __forceinline__ float4 take_partial(const GemmStreamParams& p, float4* place, float4 seen) {
  for (uint32_t tries = 0; !arrived(seen); ++tries) {
    if (tries == kSpinLimit) report_stuck(p.mailbox, StuckAt::kPartialSums, 0);
    seen = ptx::ld_relaxed_gpu(place);
  }
  const float empty = __uint_as_float(kNotYet);
  ptx::st_relaxed_gpu(place, {empty, empty, empty, empty});
  return seen;
}

/// Adds the slices of this block's part of the product in ascending order and writes y. The blocks share out the
/// 16x8 tiles of y evenly, whatever they have summed themselves.
template <int kColumnTiles>
__device__ __forceinline__ void combine_slices(const GemmStreamParams& p) {
  constexpr int kInFlight = 4;
  const int columns = (p.m + kColumnTile - 1) / kColumnTile;
  const int tiles = p.warp_tiles * (kWarpRows / kInstructionRows) * columns;
  const int end = BlockShare::part(tiles, blockIdx.x + 1, gridDim.x);
  for (int i = BlockShare::part(tiles, blockIdx.x, gridDim.x) + threadIdx.x / 32; i < end; i += blockDim.x / 32) {
    const int row_tile = i / columns, column = i % columns;
    const int warp_tile = row_tile / 2, fragment = row_tile % 2 * kColumnTiles + column;
    float4 sum = {0, 0, 0, 0};
    for (int slice = 0; slice < p.k_slices; slice += kInFlight) {
      float4 part[kInFlight];
#pragma unroll
      for (int j = 0; j < kInFlight; ++j)
        if (slice + j < p.k_slices)
          part[j] = ptx::ld_relaxed_gpu(partial_at<kColumnTiles>(p, slice + j, warp_tile, fragment));
#pragma unroll
      for (int j = 0; j < kInFlight; ++j)
        if (slice + j < p.k_slices) {
          part[j] = take_partial(p, partial_at<kColumnTiles>(p, slice + j, warp_tile, fragment), part[j]);
          sum = {sum.x + part[j].x, sum.y + part[j].y, sum.z + part[j].z, sum.w + part[j].w};
        }
    }
    __syncwarp();
    store_tile(p, row_tile * kInstructionRows, column * kColumnTile, sum);
  }
}

/// The worker with a one-task queue: this block's share of one product.
template <GemmStreamConfig kCfg>
__device__ __forceinline__ void run_gemm_stream(const GemmStreamParams& p, uint8_t* smem) {
  static_assert(kCfg.column_tiles == 1 || kCfg.column_tiles % 2 == 0, "x is loaded two column tiles at a time");
  static_assert(kCfg.x_chunk_bytes() % 1024 == 0, "the swizzle repeats every 1024 bytes");
  static_assert(kCfg.weight_depth(kCfg.max_warps) >= 1 && kCfg.weight_depth(1) <= 32, "1 to 32 slots a ring");
  static_assert(kCfg.weight_depth(1) + 2 * kCfg.x_depth(1) <= kCfg.kMaxBarriers &&
                    kCfg.max_warps * kCfg.weight_depth(kCfg.max_warps) + 2 * kCfg.x_depth(kCfg.max_warps) <=
                        kCfg.kMaxBarriers,
                "too many barriers");
  static_assert((kCfg.smem_bytes() + kSmemReservedPerBlock) * kCfg.blocks_per_sm <= kSmemPerSm,
                "too many slots for this many blocks an SM");
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int depth = kCfg.weight_depth(warps);
  const uint32_t base = ptx::shared_address(smem), barriers = base + kCfg.ring_bytes;
  const BlockShare share = BlockShare::of(p);

  WeightRing ring(base + warp * depth * kWeightChunkBytes, barriers + warp * depth * kBarrierBytes, depth);
  ChunkCursor<1> next(share, warp);
  const auto request_next = [&](int slot) {
    if (next.done(share)) return;
    ring.request(slot, p.w_map, next.column(), next.row());
    next.advance(share);
  };
  for (int slot = 0; slot < depth; ++slot) request_next(slot);
  // From the start: the next kernel takes the second half of each multiprocessor and fills its rings.
  ptx::griddepcontrol_launch_dependents();

  XRing<kCfg.x_group, kCfg.x_chunk_bytes()> x_ring(base + warps * depth * kWeightChunkBytes,
                                                   barriers + warps * depth * kBarrierBytes, kCfg.x_depth(warps));
  if (warp == 0) {
    x_ring.init(warps);
    ptx::prefetch_tensormap(p.x_map);
  }
  __syncthreads();
  ptx::griddepcontrol_wait();
  ChunkCursor<kCfg.x_group> next_x(share, 0);
  for (int slot = 0; slot < x_ring.depth() && !next_x.done(share); ++slot, next_x.advance(share))
    if (threadIdx.x == slot % warps * 32) x_ring.request(slot, p.x_map, next_x.column(), next_x.chunks(share));

  const auto lane = StreamLane::make<kCfg.column_tiles>(threadIdx.x % 32);
  for (int round = share.tile_begin; round < share.tile_end; round += warps) {
    const bool active = round + warp < share.tile_end;
    StreamSums<kCfg.column_tiles> sums;
    sums.clear();
    for (int group = share.chunk_begin; group < share.chunk_end; group += kCfg.x_group) {
      if (!active) x_ring.wait(p.mailbox);
      uint32_t x = 0;
#pragma unroll
      for (int i = 0; i < kCfg.x_group; ++i)
        if (active && group + i < share.chunk_end)
          add_chunk(
              sums, lane, ring.wait(p.mailbox), [&] { request_next(ring.release()); },
              [&] { return x = i == 0 ? x_ring.wait(p.mailbox) : x + kCfg.x_chunk_bytes(); });
      int x_slot;
      if (x_ring.release(p.mailbox, x_slot) && !next_x.done(share))
        x_ring.request(x_slot, p.x_map, next_x.column(), next_x.chunks(share));
      if (!next_x.done(share)) next_x.advance(share);
    }
    if (active) finish_tile(p, share.slice, round + warp, sums);
  }
  if (p.k_slices > 1) combine_slices<kCfg.column_tiles>(p);
}

}  // namespace tw::cuda
