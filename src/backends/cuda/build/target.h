// target.h: what the planner asks of this backend.
#pragma once

#include <memory>

#include "backends/cuda/build/tactics.h"
#include "planner/target.h"

namespace tw::cuda {

struct TargetOptions {
  bool allow_tf32 = false;  // products of f32 may round their operands to tf32
  TacticOptions tactics;
  int queues = 2;  // 1 to 4: branches spread over them, each a stream of its own in a graph
};

/// For GPUs of compute capability 9.0. Needs no GPU: tactics then follow from the cost model.
std::unique_ptr<planner::TargetServices> make_target(const TargetOptions& options);

/// Whether device 0 is a GPU that plans of this target run on.
bool gpu_is_here();

}  // namespace tw::cuda
