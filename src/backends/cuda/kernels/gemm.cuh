// gemm.cuh: c = epilogue(a b^T), tile by tile, for gemm and for convolution as a product: a loader
// an operand (gemm_loaders.cuh, or both as boxes: gemm_tiles.cuh), sums in registers
// (gemm_sums.cuh, wgmma.cuh), the epilogue from shared memory.
//
// The order of a sum is fixed by the weight: K is cut into `slices` of whole tiles of K; each slice
// is summed from zero, ascending; the slices are added ascending. Who computes a slice is the tile
// configuration's business:
//   Slicing::kOne      there is one slice
//   Slicing::kSerial   a block computes all of them, one after another
//   Slicing::kCluster  the blocks of a cluster compute one each, and a share of the rows is added
//   up,
//                      finished and stored by each of them
//
// Shared memory: a ring of kStages pairs of tiles; then, in the same place, the sums of the tile.
//   wait<kStages - 2> + __syncthreads: tile i is there, and everyone is done with tile i - 1
//   __syncthreads after the loop:      the ring may be overwritten with sums
//   cluster barrier 1:                 the sums of all blocks of the cluster are there
//   cluster barrier 2:                 no block of the cluster reads this one's sums any more
#pragma once

#include "gemm_place.cuh"
#include "gemm_produced.cuh"
#include "gemm_tiles.cuh"

/// Calls load of both kinds of loader.
template <class Loader, class Params>
TW_DEVICE void load_tile(Loader& loader, const Params& p, uint32_t tile) {
  if constexpr (requires { loader.load(tile); })
    loader.load(tile);
  else
    loader.load(p, tile);
}

/// Sums of this block's slices; some of the ring's copies may still be on their way.
template <GemmConfig kCfg, class Sums, class LoadA, class LoadB, class Batch, class Params>
TW_DEVICE Sums sum_tile(const Params& p, const Batch& batch, const Place<kCfg>& place,
                        uint32_t ring, void* table) {
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
  constexpr bool kAsync = requires { Sums::kAsync; };  // products run beside the loads (wgmma.cuh)
  const auto begin_of = [&](int slice) { return slice * p.k_tiles / p.slices; };
  const int begin = kCluster ? begin_of(place.slice) : 0;
  const int end = kCluster ? begin_of(place.slice + 1) : p.k_tiles;
  LoadA a(p, p.a, batch, {place.row, p.m, begin, end}, table);
  LoadB b(p, p.b, batch, {place.col, p.n, begin, end}, nullptr);
  if constexpr (requires { LoadA::kTable; }) __syncthreads();
  const auto a_tile = [&](int stage) { return ring + stage * kCfg.stage_bytes(); };
  const auto b_tile = [&](int stage) { return a_tile(stage) + kCfg.rows * kRowBytes; };
  constexpr int kAhead = kCfg.stages - 1;

  const auto fill_b = [&] {
#pragma unroll 1
    for (int i = 0; i < kAhead; ++i)
      if (begin + i < end) load_tile(b, p, b_tile(i));
  };
  if (p.b_is_weight != 0) {
    fill_b();
    if constexpr (requires { b.prefetch(0); })
      if (p.prefetch_weights != 0 && place.row == 0) b.prefetch(end - begin - kAhead);
  }
  wait_for_inputs();
  if (p.b_is_weight == 0) fill_b();
#pragma unroll 1
  for (int i = 0; i < kAhead; ++i) {
    if (begin + i < end) load_tile(a, p, a_tile(i));
    cp_async_commit();
  }

  Sums sums;
  [[maybe_unused]] Sums total;
  [[maybe_unused]] int slice = 0, slice_end = kCfg.slicing == Slicing::kSerial ? begin_of(1) : 0;
  int stage = 0, free_stage = kAhead;
#pragma unroll 1
  for (int tile = begin; tile < end; ++tile) {
    cp_async_wait<kAhead - 1>();
    if constexpr (kAsync) {
      sums.finish();  // of tile - 1, whose place is filled below
      fence_for_wgmma();
    }
    __syncthreads();
    if constexpr (kAsync) sums.multiply(a_tile(stage), b_tile(stage));
    if (tile + kAhead < end) {
      load_tile(a, p, a_tile(free_stage));
      load_tile(b, p, b_tile(free_stage));
    }
    cp_async_commit();
    if constexpr (!kAsync) sums.multiply(a_tile(stage), b_tile(stage));
    stage = stage + 1 < kCfg.stages ? stage + 1 : 0;
    free_stage = free_stage + 1 < kCfg.stages ? free_stage + 1 : 0;
    if constexpr (kCfg.slicing == Slicing::kSerial) {
      if (tile + 1 == slice_end) {
        if constexpr (kAsync) sums.finish();
        total.add(sums);
        sums.clear();
        ++slice;
        slice_end = begin_of(slice + 1);
      }
    }
  }
  if constexpr (kAsync) sums.finish();
  if constexpr (kCfg.slicing == Slicing::kSerial)
    return total;
  else
    return sums;
}

/// kN sums of a row of the tile from here on: this block's own, or those of the cluster's blocks.
template <GemmConfig kCfg, int kN>
TW_DEVICE void read_sums(uint32_t at, float (&sums)[kN]) {
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
#pragma unroll
  for (float& sum : sums) sum = 0;
#pragma unroll
  for (int rank = 0; rank < (kCluster ? kCfg.cluster : 1); ++rank) {
    const uint32_t from = kCluster ? cluster_address(at, rank) : at;
    if constexpr (kN % 4 == 0) {
#pragma unroll
      for (int i = 0; i < kN; i += 4) {
        const float4 part = kCluster ? load_cluster_16(from + i * 4) : load_shared_16(from + i * 4);
        sums[i] += part.x, sums[i + 1] += part.y, sums[i + 2] += part.z, sums[i + 3] += part.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kN; ++i)
        sums[i] += kCluster ? load_cluster_4(from + i * 4) : load_shared_4(from + i * 4);
    }
  }
}

template <GemmConfig kCfg, class Sums, class LoadA, class LoadB, class Epilogue, class Params>
TW_DEVICE void run_gemm(const Params& p) {
  extern __shared__ __align__(1024) uint8_t memory[];
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
  constexpr int kBlockRows = kCluster ? (kCfg.rows + kCfg.cluster - 1) / kCfg.cluster : kCfg.rows;
  constexpr int kVectors = kCfg.cols / kCfg.vector, kStep = kCfg.threads() / kVectors;
  static_assert(kCfg.threads() % kVectors == 0);
  let_next_start();
  const uint32_t ring = shared_address(memory);
  const Place<kCfg> place(p);
  const Batch<kCfg.batch_dims> batch(p.batch_dims, place.batch);
  const int in_tile = static_cast<int>(threadIdx.x) % kVectors * kCfg.vector;
  const int col = place.col + in_tile;
  Epilogue::prefetch(p, col);
  const auto sum = [&] {
    if constexpr (kCfg.producer)
      return sum_produced<kCfg, Sums, LoadA, LoadB>(p, place, ring, ring + p.table_offset);
    else if constexpr (requires { LoadA::kBoxes; })
      return sum_boxes<kCfg, Sums, LoadA, LoadB>(p, place, ring, ring + p.table_offset);
    else
      return sum_tile<kCfg, Sums, LoadA, LoadB>(p, batch, place, ring, memory + p.table_offset);
  };
  const Sums sums = sum();
  const bool sums_up = !kCfg.producer || threadIdx.x < kCfg.threads();

  // This block finishes rows [first, last) of the tile. What they need besides the sums is on its
  // way while the sums change hands.
  const int first = kCluster ? place.slice * kBlockRows : 0;
  const int last = min(min(first + kBlockRows, kCfg.rows), p.m - place.row);
  int row = first + static_cast<int>(threadIdx.x) / kVectors;
  bool busy = sums_up && col < p.n && row < last;
  // Rows that need more than the sums: what a few of them need is on its way at a time.
  constexpr int kAhead = Epilogue::kLoadsRows ? 4 : 1;
  const Epilogue none(p, batch, busy ? col : 0);
  Epilogue epilogues[] = {none, none, none, none};
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
    if (busy && row + i * kStep < last) epilogues[i].load(place.row + row + i * kStep);
  cp_async_wait<0>();
  __syncthreads();
  if (sums_up) sums.store(ring);
  if constexpr (kCluster) {
    cluster_arrive();
    cluster_wait();
    if (!busy) cluster_arrive();
  } else {
    __syncthreads();
  }
  while (busy) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (!busy) break;
      const int finished = row, ahead = row + kAhead * kStep;
      row += kStep;
      busy = row < last;
      float part[kCfg.vector];
      read_sums<kCfg>(ring + (finished * kCfg.sums_pitch() + in_tile) * 4, part);
      if constexpr (kCluster) {
        if (!busy) cluster_arrive();  // it has read the last sums
      }
      epilogues[i].store(place.row + finished, part);
      if (ahead < last) epilogues[i].load(place.row + ahead);
    }
  }
  if constexpr (kCluster) cluster_wait();
}
