// tasks.h: one `run` a task kind (NAME.cpp holds kind NAME), called through run_tiles of core.h,
// and one `prepare` for the kinds that have something to prepare.
#pragma once

#include "backends/cpu/core.h"

namespace tw::cpu {

Result<void> run(const task::GemmTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::ConvTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::PoolTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::AttentionTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::NormTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::SoftmaxTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::ElementwiseTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::ReduceTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::GatherTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::ScatterTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::CopyTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::ResizeTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::RecurrentTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::NonZeroTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::SortTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);
Result<void> run(const task::ScanTask& task, const TaskContext& context, int64_t begin,
                 int64_t end);

using PreparedPtr = std::unique_ptr<Prepared>;
Result<PreparedPtr> prepare(const task::GemmTask& task, const TaskContext& context);
Result<PreparedPtr> prepare(const task::ConvTask& task, const TaskContext& context);
Result<PreparedPtr> prepare(const task::ElementwiseTask& task, const TaskContext& context);
Result<PreparedPtr> prepare(const task::ResizeTask& task, const TaskContext& context);
Result<PreparedPtr> prepare(const task::RecurrentTask& task, const TaskContext& context);

/// Copies any window into any other of equal dims and type.
struct Window;
void copy_window(const Kernels& kernels, const Window& from, const Window& to);

}  // namespace tw::cpu
