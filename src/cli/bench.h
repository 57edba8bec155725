// bench.h: what a list of measured times says.
#pragma once

#include <cstddef>
#include <vector>

namespace tw::cli {

/// Of the unit of the times; quantiles between two times are interpolated.
struct Figures {
  size_t n = 0;
  double min = 0, max = 0, mean = 0, median = 0, p90 = 0, p95 = 0, p99 = 0;
};

/// `times` is not empty.
Figures figures_of(std::vector<double> times);

}  // namespace tw::cli
