#include "backends/cuda/graph/branches.h"

namespace tw::cuda {

Result<cudaEvent_t> Events::add(unsigned flags) {
  cudaEvent_t event = nullptr;
  TRY(check(cudaEventCreateWithFlags(&event, flags), "an event"));
  events_.push_back(event);
  return event;
}

Branches::Branches(cudaStream_t main) : lanes_{{main, false, true}} {}

Branches::Branches(cudaStream_t main, std::span<const cudaStream_t> auxiliary) : Branches(main) {
  for (const cudaStream_t stream : auxiliary) lanes_.push_back({stream, false, false});
}

Result<cudaEvent_t> Branches::record(const Lane& lane) {
  const cudaEvent_t event = TRY(events_.add(cudaEventDisableTiming));
  TRY(check(cudaEventRecord(event, lane.stream), "an event"));
  return event;
}

Result<void> Branches::wait(Lane& lane, cudaEvent_t event) {
  lane.follows_kernel = false;  // a kernel overlaps the one before it when that is all it waits for
  return check(cudaStreamWaitEvent(lane.stream, event, 0), "a wait between streams");
}

Result<Lane*> Branches::enter(const Step& step) {
  if (!spreads()) return &lanes_[0];
  if (fork_ == nullptr) fork_ = TRY(record(lanes_[0]));
  Lane& lane = lanes_[step.queue];
  if (!lane.has_begun) TRY(wait(lane, fork_));
  lane.has_begun = true;
  const task::Record& record = *step.record;
  for (int w = 0; w < record.n_waits; ++w)
    for (const Signal& signal : signals_)
      if (signal.counter == record.waits[w].counter && signal.lane != &lane)
        TRY(wait(lane, signal.event));
  return &lane;
}

Result<void> Branches::leave(const Step& step, const Lane& lane) {
  if (!spreads() || step.record->signal == task::kNoCounter) return {};
  signals_.push_back({step.record->signal, &lane, TRY(record(lane))});
  return {};
}

Result<void> Branches::join() {
  for (size_t i = 1; i < lanes_.size(); ++i)
    if (lanes_[i].has_begun) TRY(wait(lanes_[0], TRY(record(lanes_[i]))));
  return {};
}

}  // namespace tw::cuda
