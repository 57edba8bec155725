#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"

namespace tw::cpu {
namespace {

using task::ScanTask;

/// Running sums of one line; integers wrap in 64 bits.
template <class Lane>
void scan_line(const ScanTask& task, Lane* values, int64_t n) {
  using Sum = std::conditional_t<std::is_same_v<Lane, int64_t>, uint64_t, Lane>;
  Sum sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    Lane& value = values[task.reverse != 0 ? n - 1 - i : i];
    const Sum before = sum;
    sum += static_cast<Sum>(value);
    value = static_cast<Lane>(task.exclusive != 0 ? before : sum);
  }
}

template <class Lane>
void run_tile(const ScanTask& task, const TaskContext& context, const task::Box& box) {
  const ScratchScope scope(*context.scratch);
  const auto axis = static_cast<size_t>(task.axis);
  std::array<Window, 2> windows = {window(context, task.x.id, box),
                                   window(context, task.y.id, box)};
  const int64_t n = windows[0].dims[axis];
  const int64_t x_stride = windows[0].strides[axis], y_stride = windows[1].strides[axis];
  auto* line = context.scratch->take<Lane>(n);
  for (Window& w : windows) w.dims[axis] = 1;
  const LoopNest nest(windows[0].dims, windows);
  nest.for_each(0, [&](const auto& at) {
    load_lane(*context.kernels, windows[0].dtype, at[0], x_stride, n, line);
    scan_line(task, line, n);
    store_lane(*context.kernels, windows[1].dtype, line, n, at[1], y_stride);
  });
}

}  // namespace

Result<void> run(const ScanTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  const task::Lane lane = task::lane_of(context.slot(task.x.id).dtype);
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    if (lane == task::Lane::kF32) {
      run_tile<float>(task, context, box);
    } else if (lane == task::Lane::kF64) {
      run_tile<double>(task, context, box);
    } else {
      run_tile<int64_t>(task, context, box);
    }
  }
  return {};
}

}  // namespace tw::cpu
