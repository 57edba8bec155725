// Rings of chunks in shared memory that the copy engine fills: one a warp for weights, one a block
// for x.
//
// | barrier           | who arrives                     | how many  | who waits    | then visible |
// |-------------------|---------------------------------|-----------|--------------|--------------|
// | weight full[slot] | lane 0 on asking, and the bytes | 1 + bytes | that warp    | the weights  |
// | x full[slot]      | whoever asks, and the bytes     | 1 + bytes | every warp   | rows of x    |
// | x empty[slot]     | lane 0 of every warp, after use | warps     | last to come | a free slot  |
//
// A warp is producer and consumer of its own weights: no warp waits for another, and the ring runs
// past every dependency of the activations. A weight slot is free when every lane has read it, and
// __syncwarp orders those reads before lane 0's next copy into it. The warp whose arrival completes
// an x empty[slot] (it sees that one was pending) asks for the slot's next contents, so that x
// needs no producer warp.
#pragma once

#include "backends/cuda/mma/stream_tile.cuh"
#include "backends/cuda/ptx/bulk_tensor.cuh"
#include "backends/cuda/ptx/mbarrier.cuh"
#include "backends/cuda/tasks/stuck.cuh"

#include <cstdint>

namespace tw::cuda {

inline constexpr int kBarrierBytes = 8;

/// A place in a ring of `depth` slots: advances slot by slot, and flips parity at each turn.
struct RingPlace {
  int slot = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance(int depth) {
    if (++slot == depth) {
      slot = 0;
      parity ^= 1;
    }
  }
};

/// One warp's ring of at most 32 weight chunks. All lanes call everything.
class WeightRing {
 public:
  /// `slots` and `barriers` are this warp's own; the barriers are ready when the constructor
  /// returns.
  __device__ __forceinline__ WeightRing(uint32_t slots, uint32_t barriers, int depth)
      : slots_(slots),
        barriers_(barriers),
        depth_(depth),
        policy_(ptx::createpolicy_evict_first()) {
    const int lane = threadIdx.x % 32;
    if (lane < depth) {
      ptx::mbarrier_init(barriers + lane * kBarrierBytes, 1);
      ptx::fence_mbarrier_init();
    }
    __syncwarp();
  }

  /// Asks for the chunk at (column, row) of `map` into `slot`, which must be free.
  __device__ __forceinline__ void request(int slot, const CUtensorMap& map, int column,
                                          int row) const {
    if (threadIdx.x % 32 != 0) return;
    const uint32_t barrier = barriers_ + slot * kBarrierBytes;
    ptx::mbarrier_arrive_expect_tx(barrier, kWeightChunkBytes);
    ptx::cp_async_bulk_tensor_2d(slots_ + slot * kWeightChunkBytes, map, column, row, barrier,
                                 policy_);
  }

  /// Waits for the oldest chunk and returns its address.
  __device__ __forceinline__ uint32_t wait(StuckReport* mailbox) const {
    wait_parity(barriers_ + place_.slot * kBarrierBytes, place_.parity, mailbox,
                StuckAt::kWeightChunk);
    return slots_ + place_.slot * kWeightChunkBytes;
  }

  /// Gives the oldest chunk back, its contents being in registers, and returns its slot for the
  /// next request.
  __device__ __forceinline__ int release() {
    __syncwarp();
    const int slot = place_.slot;
    place_.advance(depth_);
    return slot;
  }

  __device__ __forceinline__ int depth() const { return depth_; }

 private:
  uint32_t slots_, barriers_;
  int depth_;
  uint64_t policy_;
  RingPlace place_;
};

/// The block's ring of x, as one warp sees it: at most 32 slots of up to `kGroup` chunks of
/// `kChunkBytes`.
template <int kGroup, int kChunkBytes>
class XRing {
 public:
  __device__ __forceinline__ XRing(uint32_t slots, uint32_t barriers, int depth)
      : slots_(slots), barriers_(barriers), depth_(depth) {}

  __device__ __forceinline__ int depth() const { return depth_; }

  /// All lanes of one warp; a block barrier must follow before anyone asks or waits.
  __device__ __forceinline__ void init(int warps) const {
    const int lane = threadIdx.x % 32;
    if (lane >= depth_) return;
    ptx::mbarrier_init(full(lane), 1);
    ptx::mbarrier_init(empty(lane), warps);
    ptx::fence_mbarrier_init();
  }

  /// Asks for `chunks` chunks of all rows from `column` on into `slot`, which must be free. One
  /// thread.
  __device__ __forceinline__ void request(int slot, const CUtensorMap& map, int column,
                                          int chunks) const {
    const uint64_t policy = ptx::createpolicy_evict_last();
    ptx::mbarrier_arrive_expect_tx(full(slot), chunks * kChunkBytes);
    for (int i = 0; i < chunks; ++i)
      ptx::cp_async_bulk_tensor_2d(slots_ + (slot * kGroup + i) * kChunkBytes, map,
                                   column + i * kChunkK, 0, full(slot), policy);
  }

  /// Waits for the oldest slot and returns the address of its first chunk.
  __device__ __forceinline__ uint32_t wait(StuckReport* mailbox) const {
    wait_parity(full(place_.slot), place_.parity, mailbox, StuckAt::kXChunk);
    return slots_ + place_.slot * (kGroup * kChunkBytes);
  }

  /// Gives the oldest slot back, all lanes of this warp having read it. True in one lane of the
  /// block: `slot` is then free, and that lane is to ask for its next contents.
  __device__ __forceinline__ bool release(StuckReport* mailbox, int& slot) {
    __syncwarp();
    const RingPlace place = place_;
    slot = place.slot;
    place_.advance(depth_);
    if (threadIdx.x % 32 != 0 ||
        ptx::mbarrier_pending_count(ptx::mbarrier_arrive(empty(slot))) != 1)
      return false;
    wait_parity(empty(slot), place.parity, mailbox,
                StuckAt::kXSlot);  // complete by now: the acquire is what is wanted
    return true;
  }

 private:
  __device__ __forceinline__ uint32_t full(int slot) const {
    return barriers_ + slot * kBarrierBytes;
  }
  __device__ __forceinline__ uint32_t empty(int slot) const {
    return barriers_ + (depth_ + slot) * kBarrierBytes;
  }

  uint32_t slots_, barriers_;
  int depth_;
  RingPlace place_;
};

}  // namespace tw::cuda
