// gemm_produced.cuh: the sums of a tile whose boxes a warp of its own asks for (gemm_tiles.cuh: one
// of the threads that sum). Warpgroups need not wait for one another, only for the ring:
//
// | barrier of a stage | its phase completes when            | who waits          |
// |--------------------|-------------------------------------|--------------------|
// | full               | the boxes of both operands are there| the warps that sum |
// | empty              | every warp is done with them        | the asking thread  |
#pragma once

#include "gemm_tiles.cuh"

/// A ring of stages with their barriers, gone through by one side: `wait` for what it waits for,
/// `next` to the stage behind.
template <GemmConfig kCfg>
struct Ring {
  uint32_t tiles, full, empty;
  int stage = 0;
  uint32_t parity = 0;

  TW_DEVICE Ring(uint32_t at, uint32_t barriers)
      : tiles(at), full(barriers), empty(barriers + kCfg.stages * 8) {}
  TW_DEVICE void make(int releases) const {
    for (int i = 0; i < kCfg.stages; ++i) {
      barrier_init(full + i * 8, 1);
      barrier_init(empty + i * 8, releases);
    }
    barrier_init_fence();
  }
  TW_DEVICE uint32_t a() const { return tiles + stage * kCfg.stage_bytes(); }
  TW_DEVICE uint32_t b() const { return a() + kCfg.rows * kRowBytes; }
  TW_DEVICE uint32_t is_full() const { return full + stage * 8; }
  TW_DEVICE uint32_t is_empty() const { return empty + stage * 8; }
  TW_DEVICE void next() {
    if (++stage == kCfg.stages) stage = 0, parity ^= 1;
  }
};

/// The products of all tiles of K with this warpgroup's sums; stages are given back as it goes.
template <GemmConfig kCfg, class Sums>
TW_DEVICE void sum_stages(Sums& sums, Ring<kCfg>& ring, int k_tiles) {
  const bool tells = threadIdx.x % 32 == 0;  // for its warp: others may be a tile behind
  uint32_t before = 0;
#pragma unroll 1
  for (int tile = 0; tile < k_tiles; ++tile) {
    barrier_wait(ring.is_full(), ring.parity);
    sums.multiply(ring.a(), ring.b());
    sums.finish_before();
    if (tells && tile > 0) barrier_arrive(before);
    before = ring.is_empty();
    ring.next();
  }
  sums.finish();
  if (tells) barrier_arrive(before);
}

template <GemmConfig kCfg, class Sums, class BoxesA, class BoxesB, class Params>
TW_DEVICE Sums sum_produced(const Params& p, const Place<kCfg>& place, uint32_t at,
                            uint32_t barriers) {
  static_assert(kCfg.slicing == Slicing::kOne);
  Ring<kCfg> ring(at, barriers);
  const bool asks = threadIdx.x == kCfg.threads();
  if (asks) prefetch_map(&p.map_a), prefetch_map(&p.map_b), ring.make(kCfg.threads() / 32);
  __syncthreads();  // the barriers are there
  Sums sums;
  if (asks) {
    BoxesA a(p, p.map_a, place.row, 0);
    BoxesB b(p, p.map_b, place.col, 0);
    const int n_first = min(kCfg.stages, p.k_tiles);
    for (int i = 0; i < n_first; ++i) {
      barrier_expect(ring.full + i * 8, kCfg.stage_bytes());
      if (p.b_is_weight != 0)
        b.load(ring.tiles + i * kCfg.stage_bytes() + kCfg.rows * kRowBytes, ring.full + i * 8);
    }
    wait_for_inputs();
    for (int tile = 0; tile < p.k_tiles; ++tile) {
      if (tile >= n_first) {
        barrier_wait(ring.is_empty(), ring.parity ^ 1);
        barrier_expect(ring.is_full(), kCfg.stage_bytes());
      }
      if (tile >= n_first || p.b_is_weight == 0) b.load(ring.b(), ring.is_full());
      a.load(ring.a(), ring.is_full());
      ring.next();
    }
  } else if (threadIdx.x < kCfg.threads()) {
    wait_for_inputs();
    sum_stages<kCfg>(sums, ring, p.k_tiles);
  }
  __syncwarp();
  return sums;
}
