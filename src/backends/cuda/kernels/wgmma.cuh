// wgmma.cuh: the sums of a tile by products of a whole warpgroup, which read both sides from shared
// memory and run beside the threads that asked for them. wgmma_step (generated: its list of
// registers is as long as its columns) is one step of 16 of K.
#pragma once

/// Registers that a product adds to must not be touched between its start and wgmma_wait.
TW_DEVICE void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TW_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until at most the last kPending groups are still running.
template <int kPending>
TW_DEVICE void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// Rows of 128 bytes, eight to a swizzled block of 1024: pieces of 16 bytes change places by the
/// row's number modulo 8, which is how the loaders lay tiles out. Places change by their address,
/// so `address` may be that of any row.
TW_DEVICE uint64_t tile_descriptor(uint32_t address) {
  constexpr uint64_t kBlock = 1024 >> 4, kSwizzle128 = 1;
  return (address >> 4) | (uint64_t{1} << 16) | (kBlock << 32) | (kSwizzle128 << 62);
}

/// As TensorSums (gemm.cuh). Warpgroups stand warps_m / 4 down and warps_n across; each has kM
/// blocks of 64 rows by all of its columns.
template <class T, GemmConfig kCfg>
class GroupSums {
 public:
  static constexpr bool kAsync = true;

  /// Sums that are not started hold anything: the first product overwrites them. Zeros, or a wait
  /// that some path leaves out, would make the assembler wait for each product by itself.
  TW_DEVICE void clear() { started_ = false; }
  TW_DEVICE void add(const GroupSums& other) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int e = 0; e < kCols / 2; ++e)
        sums_[i][e] = (started_ ? sums_[i][e] : 0) + other.sums_[i][e];
    started_ = true;
  }

  /// Starts adding one tile of K, or its first kSteps steps of 16; finish() waits for it.
  template <int kSteps = 4>
  TW_DEVICE void multiply(uint32_t a_tile, uint32_t b_tile) {
    const uint64_t a = tile_descriptor(a_tile + group_m() * kM * 64 * kRowBytes);
    const uint64_t b = tile_descriptor(b_tile + group_n() * kCols * kRowBytes);
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
#pragma unroll
      for (int i = 0; i < kM; ++i)
        wgmma_step(sums_[i], step > 0 || started_, a + i * (64 * kRowBytes >> 4) + step * 2,
                   b + step * 2);
    wgmma_commit();
    started_ = true;
  }
  TW_DEVICE void finish() { wgmma_wait<0>(); }
  /// Waits for all tiles but the last.
  TW_DEVICE void finish_before() { wgmma_wait<1>(); }

  /// The tile of sums, by all of its warpgroups.
  TW_DEVICE void store(uint32_t to) const {
    const int row = group_m() * kM * 64 + threadIdx.x / 32 % 4 * 16;
    to += (row * kCfg.sums_pitch() + group_n() * kCols) * 4;
#pragma unroll
    for (int i = 0; i < kM; ++i) store_rows(i, to + i * 64 * kCfg.sums_pitch() * 4);
  }
  /// The 16 rows that this warp has of block i of 64.
  TW_DEVICE void store_rows(int i, uint32_t to) const {
    const int lane = threadIdx.x % 32;
    to += (lane / 4 * kCfg.sums_pitch() + lane % 4 * 2) * 4;
#pragma unroll
    for (int j = 0; j < kCols / 8; ++j) {
      const auto sum = [&](int e) { return started_ ? sums_[i][j * 4 + e] : 0.0f; };
      store_shared_8(to + j * 32, {sum(0), sum(1)});
      store_shared_8(to + j * 32 + 8 * kCfg.sums_pitch() * 4, {sum(2), sum(3)});
    }
  }

 private:
  static constexpr int kGroupsM = kCfg.warps_m / 4, kGroupsN = kCfg.warps_n;
  static constexpr int kM = kCfg.rows / kGroupsM / 64, kCols = kCfg.cols / kGroupsN;
  static_assert(kCfg.warps_m % 4 == 0 && kCfg.rows % (kGroupsM * 64) == 0 && kCols % 8 == 0);
  static TW_DEVICE int group_m() { return threadIdx.x / 128 / kGroupsN; }
  static TW_DEVICE int group_n() { return threadIdx.x / 128 % kGroupsN; }
  bool started_ = false;
  float sums_[kM][kCols / 2];  // (M_BLOCK, N_TILE * FRAGMENT)
};
