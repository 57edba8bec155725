// What a kernel reports when a wait of its own does not end.
#pragma once

#include <cstdint>

namespace tw::cuda {

enum class StuckAt : uint32_t {
  kNowhere = 0,
  kWeightChunk,  // a copy of weights did not arrive
  kXChunk,       // a copy of x did not arrive
  kXSlot,        // a slot of x that its last reader gave back is not free
  kPartialSums,  // the other K slices of a row tile did not arrive
};

/// One report, in host memory that the device can write: it outlives the context's error.
struct StuckReport {
  StuckAt at;
  uint32_t block, thread;
  uint32_t detail;  // the parity or the counter value seen last
};

}  // namespace tw::cuda
