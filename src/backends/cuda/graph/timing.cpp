// Timing of a session's programs, on the device's clock.
#include <algorithm>
#include <chrono>

#include "backends/cuda/graph/session.h"

namespace tw::cuda {
namespace {

constexpr int kRunsAtOnce =
    100;  // far from filling the queue of launches, which would block the host

Result<void> make_events(Events& events, size_t n) {
  for (size_t i = 0; i < n; ++i) TRY(events.add(cudaEventDefault));
  return {};
}

Result<double> us_between(const Events& events, size_t from, size_t to) {
  float ms = 0;
  TRY(check(cudaEventElapsedTime(&ms, events.all()[from], events.all()[to]),
            "the time of an event"));
  return double{ms} * 1000;
}

}  // namespace

Result<Session::Bound*> Session::bind_for_timing(const backends::DeviceProgram& device_program) {
  const auto& program = static_cast<const Program&>(device_program);
  if (program.segments().size() != 1 || program.segments()[0].on_host)
    return error(Code::kUnsupported, "tasks of the program run on the host: no device time of all");
  return bind(program);
}

Result<backends::RunTimes> Session::time_runs(const backends::DeviceProgram& program, int n) {
  using Clock = std::chrono::steady_clock;
  Bound& bound = *TRY(bind_for_timing(program));
  const auto n_steps = static_cast<uint32_t>(bound.program->steps().size());
  if (bound.core.get() == nullptr) {
    stats_.launches = 0;
    bound.core = TRY(capture(bound, 0, n_steps, {}));
  }
  Events events;
  TRY(make_events(events, kRunsAtOnce + 1));
  backends::RunTimes times;
  for (int begin = 0; begin < n; begin += kRunsAtOnce) {
    const auto count = static_cast<size_t>(std::min(kRunsAtOnce, n - begin));
    // The device is busy with one more run while the first that counts is enqueued.
    TRY(check(cudaGraphLaunch(bound.core.get(), stream_), "a graph"));
    TRY(check(cudaEventRecord(events.all()[0], stream_), "an event"));
    for (size_t i = 1; i <= count; ++i) {
      const auto enqueued = Clock::now();
      TRY(check(cudaGraphLaunch(bound.core.get(), stream_), "a graph"));
      times.host_us.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - enqueued).count());
      TRY(check(cudaEventRecord(events.all()[i], stream_), "an event"));
    }
    TRY(finish(bound.program->program()));
    for (size_t i = 1; i <= count; ++i)
      times.device_us.push_back(TRY(us_between(events, i - 1, i)));
  }
  return times;
}

Result<std::vector<backends::TaskTime>> Session::time_tasks(const backends::DeviceProgram& program,
                                                            int n) {
  Bound& bound = *TRY(bind_for_timing(program));
  const std::vector<Step>& steps = bound.program->steps();
  Events events;
  TRY(make_events(events, steps.size() + 1));
  const GraphExec graph =
      TRY(capture(bound, 0, static_cast<uint32_t>(steps.size()), {false, false, events.all()}));
  std::vector<std::vector<double>> times(steps.size());
  for (int run = 0; run < n; ++run) {
    TRY(check(cudaGraphLaunch(graph.get(), stream_), "a graph"));
    TRY(finish(bound.program->program()));
    for (size_t i = 0; i < steps.size(); ++i) times[i].push_back(TRY(us_between(events, i, i + 1)));
  }
  std::vector<backends::TaskTime> result;
  for (size_t i = 0; i < steps.size(); ++i) {
    std::nth_element(times[i].begin(), times[i].begin() + static_cast<long>(times[i].size() / 2),
                     times[i].end());
    result.push_back({steps[i].record->seq, times[i][times[i].size() / 2],
                      static_cast<int>(steps[i].kernels.size())});
  }
  return result;
}

}  // namespace tw::cuda
