#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {

Launches launch_task(const task::ScatterTask&, const TaskView&) {
  return error(Code::kUnsupported, "scatter tasks have no CUDA form");
}

}  // namespace tw::cuda
