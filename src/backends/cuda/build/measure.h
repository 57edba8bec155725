// measure.h: how long a task's launches take on the GPU of this machine.
#pragma once

#include <memory>

#include "backends/cuda/launch.h"

namespace tw::cuda {

/// Times ways to run one task. Its operands, random numbers, are made once for all of them.
class TaskTimer {
 public:
  /// What `view` refers to outlives the timer.
  explicit TaskTimer(const TaskView& view);
  ~TaskTimer();

  /// Microseconds of the task, launched back to back in a graph with its immutable operands in
  /// other memory each time, so that they come from outside the L2 as in a whole model. What is
  /// beyond `hopeless_us` is measured once only.
  Result<double> measure_us(const std::vector<Launch>& launches, double hopeless_us);

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

/// "NVIDIA H200 sm_90 driver 13000"; nothing when there is no GPU of this target.
std::string measuring_device();

}  // namespace tw::cuda
