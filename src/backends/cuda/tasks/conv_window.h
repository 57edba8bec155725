// conv_window.h: a conv task's window as kernels take it.
#pragma once

#include "backends/cuda/kernels/gemm_params.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {

/// One input channel a group, more than one group: a kernel of its own.
inline bool is_depthwise(const task::ConvTask& task, const task::SlotInfo& w) {
  return task.groups > 1 && w.dims[1] == 1;
}

/// The window with x's strides; w's strides are those of an unpacked weight.
Result<WindowParams> window_params(const task::ConvTask& task, const TaskView& view);
/// The greatest power of two that all strides of x's pixels and its first element are multiples
/// of, in elements; at most 64 bytes.
int64_t pixel_alignment(const task::SlotInfo& x);

Launches launch_depthwise(const task::ConvTask& task, const TaskView& view);

}  // namespace tw::cuda
