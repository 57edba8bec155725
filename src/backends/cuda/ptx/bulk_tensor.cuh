// The bulk tensor copy engine: one PTX instruction a function. Maps are CUtensorMap objects in
// parameter, constant or global memory; coordinates count elements, innermost first.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tw::cuda::ptx {

/// PTX ISA, cp.async.bulk.tensor: copies the box at (column, row) into shared memory and
/// adds its bytes to `barrier`. Elements outside the tensor arrive as zero and are counted too.
__device__ __forceinline__ void cp_async_bulk_tensor_2d(uint32_t destination,
                                                        const CUtensorMap& map, int column, int row,
                                                        uint32_t barrier, uint64_t cache_policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_"
      "hint"
      " [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(destination),
      "l"(&map), "r"(column), "r"(row), "r"(barrier), "l"(cache_policy)
      : "memory");
}

/// PTX ISA, prefetch.tensormap: brings the map itself into the descriptor cache.
__device__ __forceinline__ void prefetch_tensormap(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// PTX ISA, createpolicy: lines that leave the L2 first (data read once).
__device__ __forceinline__ uint64_t createpolicy_evict_first() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// PTX ISA, createpolicy: lines that leave the L2 last (data every block reads).
__device__ __forceinline__ uint64_t createpolicy_evict_last() {
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

}  // namespace tw::cuda::ptx
