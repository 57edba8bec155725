// Bounded waits. A wait that never ends would cost the whole device, so every spin has a limit;
// past it the block leaves a report in host memory and traps, and the host turns the report into a
// sentence.
#pragma once

#include "backends/cuda/ptx/mbarrier.cuh"
#include "backends/cuda/tasks/stuck.h"

#include <cstdint>

namespace tw::cuda {

/// Tries before a spin is given up: seconds, far past any wait of a correct program.
inline constexpr uint32_t kSpinLimit = 1u << 22;

__device__ __forceinline__ void report_stuck(StuckReport* mailbox, StuckAt at, uint32_t detail) {
  if (mailbox != nullptr) {
    *mailbox = {.at = at, .block = blockIdx.x, .thread = threadIdx.x, .detail = detail};
    __threadfence_system();
  }
  __trap();
}

/// Waits until the phase of `parity` of `barrier` is complete.
__device__ __forceinline__ void wait_parity(uint32_t barrier, uint32_t parity, StuckReport* mailbox,
                                            StuckAt at) {
  for (uint32_t tries = 0; !ptx::mbarrier_try_wait_parity(barrier, parity); ++tries)
    if (tries == kSpinLimit) report_stuck(mailbox, at, parity);
}

}  // namespace tw::cuda
