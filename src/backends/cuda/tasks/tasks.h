// tasks.h: one function a kind of task: its launches, or why it has none (see launch.h).
#pragma once

#include "backends/cuda/launch.h"

namespace tw::cuda {

using Launches = Result<std::vector<Launch>>;

Launches launch_task(const task::GemmTask& task, const TaskView& view);
Launches launch_task(const task::ConvTask& task, const TaskView& view);
Launches launch_task(const task::PoolTask& task, const TaskView& view);
Launches launch_task(const task::AttentionTask& task, const TaskView& view);
Launches launch_task(const task::NormTask& task, const TaskView& view);
Launches launch_task(const task::SoftmaxTask& task, const TaskView& view);
Launches launch_task(const task::ElementwiseTask& task, const TaskView& view);
Launches launch_task(const task::ReduceTask& task, const TaskView& view);
Launches launch_task(const task::GatherTask& task, const TaskView& view);
Launches launch_task(const task::ScatterTask& task, const TaskView& view);
Launches launch_task(const task::CopyTask& task, const TaskView& view);
Launches launch_task(const task::ResizeTask& task, const TaskView& view);

}  // namespace tw::cuda
