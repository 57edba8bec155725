// measure.h: how long a task's launches take on the GPU of this machine.
#pragma once

#include <memory>

#include "backends/cuda/launch.h"

namespace tw::cuda {

/// Microseconds of one task, launched back to back in a graph with its immutable operands in other
/// memory each time, so that they come from outside the L2 as in a whole model. Operands hold
/// random numbers. What is beyond `hopeless_us` is measured once only.
Result<double> measure_us(const TaskView& view, const std::vector<Launch>& launches,
                          double hopeless_us);

/// "NVIDIA H200 sm_90 driver 13000"; nothing when there is no GPU of this target.
std::string measuring_device();

}  // namespace tw::cuda
