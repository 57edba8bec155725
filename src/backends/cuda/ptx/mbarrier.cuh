// Shared-memory barriers that count arrivals and bytes: one PTX instruction a function.
// Addresses are 32-bit shared-window addresses, from `shared_address`.
#pragma once

#include <cstdint>

namespace tw::cuda::ptx {

/// The 32-bit address in the shared window that the instructions below take.
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/// PTX ISA, mbarrier.init: a phase completes after `arrivals` arrivals.
__device__ __forceinline__ void mbarrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// PTX ISA, fence.mbarrier_init: makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// PTX ISA, mbarrier.arrive, release at block scope: returns the state before the arrival.
__device__ __forceinline__ uint64_t mbarrier_arrive(uint32_t barrier) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(barrier) : "memory");
  return state;
}

/// PTX ISA, mbarrier.pending_count: how many arrivals a state still waits for.
__device__ __forceinline__ uint32_t mbarrier_pending_count(uint64_t state) {
  uint32_t count;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}

/// PTX ISA, mbarrier.arrive.expect_tx: arrives, and adds `bytes` to what the phase waits for.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// PTX ISA, mbarrier.try_wait: whether the phase of this parity is complete. May
/// suspend the thread for a time that the hardware bounds.
__device__ __forceinline__ bool mbarrier_try_wait_parity(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

}  // namespace tw::cuda::ptx
