// branches.h: the streams that the queues of a program are captured on. Within a queue launches
// follow one another; between queues stand events, one for each counter that a record signals.
//
//   queue 0 (the session's stream)   fork ----------- join
//   queue q (an auxiliary stream)      \-- waits, work --/
#pragma once

#include <vector>

#include "backends/cuda/graph/memory.h"
#include "backends/cuda/graph/program.h"

namespace tw::cuda {

/// Events that are destroyed with the scope.
class Events {
 public:
  Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  /// One more; `flags` of cudaEventCreateWithFlags.
  Result<cudaEvent_t> add(unsigned flags);
  std::span<const cudaEvent_t> all() const { return events_; }

 private:
  std::vector<cudaEvent_t> events_;
};

/// Where the work of one queue goes.
struct Lane {
  cudaStream_t stream = nullptr;
  bool follows_kernel =
      false;  // the work emitted last was a kernel, and nothing else is waited for
  bool has_begun = false;
};

class Branches {
 public:
  /// All work on `main`, in the order in which it is emitted.
  explicit Branches(cudaStream_t main);
  /// Queue q's work on auxiliary stream q - 1. Only while `main` is being captured.
  Branches(cudaStream_t main, std::span<const cudaStream_t> auxiliary);

  Lane& main() { return lanes_[0]; }
  /// The lane of a step, behind all that the step waits for.
  Result<Lane*> enter(const Step& step);
  /// What the step was waited for is there once its lane has come this far.
  Result<void> leave(const Step& step, const Lane& lane);
  /// Lets the main stream wait for all others.
  Result<void> join();

 private:
  struct Signal {
    uint32_t counter = 0;
    const Lane* lane = nullptr;
    cudaEvent_t event = nullptr;
  };
  bool spreads() const { return lanes_.size() > 1; }
  Result<cudaEvent_t> record(const Lane& lane);
  Result<void> wait(Lane& lane, cudaEvent_t event);

  std::vector<Lane> lanes_;
  std::vector<Signal> signals_;
  cudaEvent_t fork_ = nullptr;
  Events events_;
};

}  // namespace tw::cuda
