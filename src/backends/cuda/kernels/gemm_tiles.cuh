// gemm_tiles.cuh: the sums of a tile whose operands come as boxes (tma.cuh): one thread asks for
// them, the products of warpgroups read them. The order of the sums is that of gemm.cuh.
//
// Each stage of the ring has a barrier; its phase completes when both boxes of a tile are there.
//
// | step, at tile i                    | then                                               |
// |------------------------------------|----------------------------------------------------|
// | barrier_wait(stage of i)           | tile i is there                                    |
// | start products of i; wait for i - 1| this warpgroup is done with tile i - 1             |
// | __syncthreads                      | all are: thread 0 asks for the tile that follows it|
#pragma once

#include "gemm_place.cuh"
#include "tma.cuh"

/// Rows along K, by a map of the whole matrix; boxes of a tile's rows.
struct MatrixBoxes {
  static constexpr bool kBoxes = true;
  const TensorMap* map;
  int row, k;

  template <class Params>
  TW_DEVICE MatrixBoxes(const Params&, const TensorMap& of, int first_row, int first_k)
      : map(&of), row(first_row), k(first_k) {}
  TW_DEVICE void load(uint32_t tile, uint32_t barrier) {
    copy_box(tile, map, k, row, barrier);
    k += 64;
  }
  TW_DEVICE void prefetch(int tile) const { prefetch_box(map, k + tile * 64, row); }
};

/// Output pixels of a convolution: for each tap all channels, 64 at a time.
struct WindowBoxes {
  static constexpr bool kBoxes = true;
  const TensorMap* map;
  const WindowParams& window;
  int n, h, w, c, tap_h, tap_w;

  template <class Params>
  TW_DEVICE WindowBoxes(const Params& p, const TensorMap& of, int first_row, int first_k)
      : map(&of), window(p.window) {
    const int line = first_row / window.out[2];
    n = line / window.out[1];
    h = (line - n * window.out[1]) * window.stride[1] - window.pad[1];
    w = (first_row - line * window.out[2]) * window.stride[2] - window.pad[2];
    const int tap = first_k / window.channels;
    c = first_k - tap * window.channels;
    tap_h = tap / window.kernel[2];
    tap_w = tap - tap_h * window.kernel[2];
  }
  TW_DEVICE void load(uint32_t tile, uint32_t barrier) {
    copy_pixels(tile, map, c, w, h, n, tap_w * window.dilation[2], tap_h * window.dilation[1],
                barrier);
    c += 64;
    if (c < window.channels) return;
    c = 0;
    if (++tap_w < window.kernel[2]) return;
    tap_w = 0;
    ++tap_h;
  }
};

template <GemmConfig kCfg, class Sums, class BoxesA, class BoxesB, class Params>
TW_DEVICE Sums sum_boxes(const Params& p, const Place<kCfg>& place, uint32_t ring,
                         uint32_t barriers) {
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
  const auto begin_of = [&](int slice) { return slice * p.k_tiles / p.slices; };
  const int begin = kCluster ? begin_of(place.slice) : 0;
  const int end = kCluster ? begin_of(place.slice + 1) : p.k_tiles;
  const auto a_tile = [&](int stage) { return ring + stage * kCfg.stage_bytes(); };
  const auto b_tile = [&](int stage) { return a_tile(stage) + kCfg.rows * kRowBytes; };
  const auto full = [&](int stage) { return barriers + stage * 8; };
  const bool asks = threadIdx.x == 0;
  if (asks) prefetch_map(&p.map_a), prefetch_map(&p.map_b);
  BoxesA a(p, p.map_a, place.row, begin * 64);
  BoxesB b(p, p.map_b, place.col, begin * 64);
  const int n_first = min(kCfg.stages, end - begin);
  if (asks) {
    for (int i = 0; i < n_first; ++i) barrier_init(full(i), 1);
    barrier_init_fence();
    for (int i = 0; i < n_first; ++i) {
      barrier_expect(full(i), kCfg.stage_bytes());
      if (p.b_is_weight != 0) b.load(b_tile(i), full(i));
    }
    if (p.prefetch_weights != 0 && place.row == 0)
      for (int i = 0; i < end - begin - n_first; ++i) b.prefetch(i);
  }
  __syncthreads();  // the barriers are there
  wait_for_inputs();
  if (asks) {
    for (int i = 0; i < n_first; ++i) {
      if (p.b_is_weight == 0) b.load(b_tile(i), full(i));
      a.load(a_tile(i), full(i));
    }
  }

  Sums sums;
  [[maybe_unused]] Sums total;
  [[maybe_unused]] int slice = 0, slice_end = kCfg.slicing == Slicing::kSerial ? begin_of(1) : 0;
  int stage = 0, freed = kCfg.stages - 1;
  uint32_t parity = 0;
#pragma unroll 1
  for (int tile = begin; tile < end; ++tile) {
    barrier_wait(full(stage), parity);
    sums.multiply(a_tile(stage), b_tile(stage));
    sums.finish_before();
    __syncthreads();
    if (asks && tile > begin && tile - 1 + kCfg.stages < end) {
      barrier_expect(full(freed), kCfg.stage_bytes());
      b.load(b_tile(freed), full(freed));
      a.load(a_tile(freed), full(freed));
    }
    freed = stage;
    if (++stage == kCfg.stages) stage = 0, parity ^= 1;
    if constexpr (kCfg.slicing == Slicing::kSerial) {
      if (tile + 1 == slice_end) {
        sums.finish();
        total.add(sums);
        sums.clear();
        ++slice;
        slice_end = begin_of(slice + 1);
      }
    }
  }
  sums.finish();
  if constexpr (kCfg.slicing == Slicing::kSerial)
    return total;
  else
    return sums;
}
