// Timing of graphs side by side: every round replays each graph once, so that clocks and neighbours
// treat all of them alike. What is timed is a replay, from an event before it to one after it.
#pragma once

#include "backends/cuda/testing/device_data.cuh"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tw::cuda::testing {

/// Microseconds a node, over the rounds.
struct NodeTime {
  double p10 = 0, median = 0, p90 = 0;
};

struct TimedGraph {
  const LaunchGraph* graph;
  int nodes;
};

inline std::vector<NodeTime> time_graphs(const std::vector<TimedGraph>& graphs, int rounds,
                                         cudaStream_t stream) {
  constexpr int kWarmUp = 2;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "create event");
  check(cudaEventCreate(&end), "create event");
  std::vector<std::vector<double>> samples(graphs.size());
  for (int round = -kWarmUp; round < rounds; ++round)
    for (size_t i = 0; i < graphs.size(); ++i) {
      check(cudaEventRecord(begin, stream), "record event");
      graphs[i].graph->launch(stream);
      check(cudaEventRecord(end, stream), "record event");
      check(cudaEventSynchronize(end), "replay");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "elapsed time");
      if (round >= 0) samples[i].push_back(1e3 * ms / graphs[i].nodes);
    }
  check(cudaEventDestroy(begin), "destroy event");
  check(cudaEventDestroy(end), "destroy event");
  std::vector<NodeTime> times;
  for (auto& sample : samples) {
    std::sort(sample.begin(), sample.end());
    const size_t n = sample.size();
    times.push_back({sample[n / 10], sample[n / 2], sample[n * 9 / 10]});
  }
  return times;
}

}  // namespace tw::cuda::testing
