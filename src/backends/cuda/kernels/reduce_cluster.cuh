// reduce_cluster.cuh: blocks of a cluster that look into each other's shared memory. After
// base.cuh.
#pragma once

namespace tw::cuda {

TW_DEVICE int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Every thread of every block of the cluster; what they wrote to shared memory before is visible.
TW_DEVICE void sync_cluster() {
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

/// The value that block `rank` has at this address of its shared memory.
template <class S>
TW_DEVICE S load_from_block(const S* shared, int rank) {
  static_assert(sizeof(S) % 4 == 0, "moved as words");
  const uint32_t own = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(rank));
  uint32_t words[sizeof(S) / 4];
#pragma unroll
  for (int w = 0; w < static_cast<int>(sizeof(S) / 4); ++w)
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(words[w]) : "r"(remote + w * 4));
  S value;
  memcpy(&value, words, sizeof(S));
  return value;
}

}  // namespace tw::cuda
