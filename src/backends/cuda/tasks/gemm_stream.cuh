// Small-M GEMM of the streaming family: device side. See gemm_stream.h for the meaning and the sum
// order.
//
// The weight is cut into warp tiles of 32 rows and K into k_slices slices. A block owns one slice
// of a run of warp tiles; its warps take them in rounds, each warp streaming one tile through its
// own ring while x goes through one ring that all share (stream_rings.cuh has the table of both).
// When K is cut, the blocks then share out the adding of the partial sums (gemm_stream_sums.cuh).
//
// Weights are asked for before griddepcontrol.wait; x is read, y and the partial sums are written
// after it.
#pragma once

#include "backends/cuda/mma/stream_tile.cuh"
#include "backends/cuda/ptx/bulk_tensor.cuh"
#include "backends/cuda/ptx/sync.cuh"
#include "backends/cuda/tasks/gemm_stream_sums.cuh"
#include "backends/cuda/tasks/stream_rings.cuh"

#include <cstdint>

namespace tw::cuda {

/// Everything an instance is specialised on.
struct GemmStreamConfig {
  int column_tiles = 1;  // room for 8 rows of x each
  int x_group = 1;       // chunks of x that are waited for and given back together
  int min_x_slots = 2;   // of x_group chunks; what the weight rings cannot use evenly comes on top
  int max_warps = 8;     // 32 weight rows each
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

/// What this block owns: warp tiles [tile_begin, tile_end) of chunks [chunk_begin, chunk_end) of K,
/// slice `slice`.
struct BlockShare {
  int slice, tile_begin, tile_end, chunk_begin, chunk_end;

  /// The slices share out the blocks as evenly as their number allows, and the blocks of a slice
  /// its tiles.
  static __device__ __forceinline__ BlockShare of(const GemmStreamParams& p) {
    const uint32_t block = blockIdx.x, k_slices = p.k_slices;
    const uint32_t runs = gridDim.x / k_slices, longer = gridDim.x % k_slices * (runs + 1);
    const bool is_longer = block < longer;
    const uint32_t slice_runs = is_longer ? runs + 1 : runs,
                   at = is_longer ? block : block - longer;
    const uint32_t slice = at / slice_runs + (is_longer ? 0 : gridDim.x % k_slices),
                   run = at % slice_runs;
    return {static_cast<int>(slice), part_begin(p.warp_tiles, run, slice_runs),
            part_begin(p.warp_tiles, run + 1, slice_runs), part_begin(p.k_chunks, slice, k_slices),
            part_begin(p.k_chunks, slice + 1, k_slices)};
  }
};

/// Walks the chunks of every `blockDim.x / 32`-th tile of a share, K innermost, `kStep` chunks at a
/// time: the order in which they are summed.
template <int kStep>
class ChunkCursor {
 public:
  __device__ __forceinline__ ChunkCursor(const BlockShare& share, int first)
      : tile_(share.tile_begin + first), chunk_(share.chunk_begin) {}

  __device__ __forceinline__ bool done(const BlockShare& share) const {
    return tile_ >= share.tile_end;
  }
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

/// The worker with a one-task queue: this block's share of one product.
template <GemmStreamConfig kCfg>
__device__ __forceinline__ void run_gemm_stream(const GemmStreamParams& p, uint8_t* smem) {
  static_assert(kCfg.column_tiles == 1 || kCfg.column_tiles % 2 == 0,
                "x is loaded two column tiles at a time");
  static_assert(kCfg.x_chunk_bytes() % 1024 == 0, "the swizzle repeats every 1024 bytes");
  static_assert(kCfg.weight_depth(kCfg.max_warps) >= 1 && kCfg.weight_depth(1) <= 32,
                "1 to 32 slots a ring");
  static_assert(
      kCfg.weight_depth(1) + 2 * kCfg.x_depth(1) <= kCfg.kMaxBarriers &&
          kCfg.max_warps * kCfg.weight_depth(kCfg.max_warps) + 2 * kCfg.x_depth(kCfg.max_warps) <=
              kCfg.kMaxBarriers,
      "too many barriers");
  static_assert((kCfg.smem_bytes() + kSmemReservedPerBlock) * kCfg.blocks_per_sm <= kSmemPerSm,
                "too many slots for this many blocks an SM");
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int depth = kCfg.weight_depth(warps);
  const uint32_t base = ptx::shared_address(smem), barriers = base + kCfg.ring_bytes;
  const BlockShare share = BlockShare::of(p);

  WeightRing ring(base + warp * depth * kWeightChunkBytes, barriers + warp * depth * kBarrierBytes,
                  depth);
  ChunkCursor<1> next(share, warp);
  const auto request_next = [&](int slot) {
    if (next.done(share)) return;
    ring.request(slot, p.w_map, next.column(), next.row());
    next.advance(share);
  };
  for (int slot = 0; slot < depth; ++slot) request_next(slot);
  // From the start: each block of the next kernel then finds exactly one free place on each
  // multiprocessor and fills its rings there. Later, blocks pile up where places come free first:
  // +5 us at 28672 x 4096 (H200, bench).
  ptx::griddepcontrol_launch_dependents();

  XRing<kCfg.x_group, kCfg.x_chunk_bytes()> x_ring(base + warps * depth * kWeightChunkBytes,
                                                   barriers + warps * depth * kBarrierBytes,
                                                   kCfg.x_depth(warps));
  if (warp == 0) {
    x_ring.init(warps);
    ptx::prefetch_tensormap(p.x_map);
  }
  __syncthreads();
  ptx::griddepcontrol_wait();
  ChunkCursor<kCfg.x_group> next_x(share, 0);
  for (int slot = 0; slot < x_ring.depth() && !next_x.done(share); ++slot, next_x.advance(share))
    if (threadIdx.x == slot % warps * 32)
      x_ring.request(slot, p.x_map, next_x.column(), next_x.chunks(share));

  const auto lane = StreamLane::make<kCfg.column_tiles>(threadIdx.x % 32);
  for (int round = share.tile_begin; round < share.tile_end; round += warps) {
    const bool active = round + warp < share.tile_end;
    StreamSums<kCfg.column_tiles> sums;
    sums.clear();
    for (int group = share.chunk_begin; group < share.chunk_end; group += kCfg.x_group) {
      if (!active)
        x_ring.wait(p.mailbox);  // a warp without a tile in a short last round still gives x back
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
