// sizes.h: the sizes of open symbols that a program is looked at when its plan is built.
#pragma once

#include <cstdint>
#include <vector>

#include "task/program.h"

namespace tw::cuda {

/// Sizes at which the variants of tasks are measured beside the sample's, the most telling first;
/// none when no size is open. A program need not have an instance at each.
std::vector<std::vector<int64_t>> measured_sizes(const task::Program& program);

/// Sizes for which kernels are put into the plan: which ones a program needs changes with what
/// divides its sizes and with how large they are.
std::vector<std::vector<int64_t>> kernel_sizes(const task::Program& program);

}  // namespace tw::cuda
