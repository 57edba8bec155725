// sort: the k best of each row. NaN counts as larger than every number, as in numpy.
#include <algorithm>
#include <numeric>

#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"

namespace tw::cpu {
namespace {

using task::SortTask;

/// Whether a stands before b when the largest come first.
template <class T>
bool is_larger(T a, T b) {
  return a > b || (a != a && b == b);
}

template <class T>
void pick(const SortTask& task, const T* values, int64_t n, int64_t k, int64_t* order) {
  std::iota(order, order + n, int64_t{0});
  std::partial_sort(order, order + k, order + n, [&](int64_t i, int64_t j) {
    const T a = task.largest != 0 ? values[i] : values[j];
    const T b = task.largest != 0 ? values[j] : values[i];
    if (is_larger(a, b)) return true;
    return !is_larger(b, a) && i < j;
  });
}

template <class Lane>
void run_tile(const SortTask& task, const TaskContext& context, const task::Box& box) {
  const ScratchScope scope(*context.scratch);
  const Window x = window(context, task.x.id, box);
  const int64_t n = x.back_dim(0);
  task::Box best = box;
  const task::SlotInfo& values_slot = context.slot(task.values.id);
  const int64_t k = values_slot.dims[values_slot.rank - 1];
  best.end[best.end.size() - 1] = k;
  std::array<Window, 3> windows = {x, window(context, task.values.id, best),
                                   window(context, task.index.id, best)};
  Dims rows = x.dims;
  rows[rows.size() - 1] = 1;
  auto* row = context.scratch->take<Lane>(n);
  auto* sorted = context.scratch->take<Lane>(k);
  auto* order = context.scratch->take<int64_t>(n);
  const LoopNest nest(rows, windows);
  nest.for_each(0, [&](const auto& at) {
    load_lane(*context.kernels, x.dtype, at[0], x.back_stride(0), n, row);
    if (x.dtype == DType::kU64) {
      pick(task, reinterpret_cast<const uint64_t*>(row), n, k, order);
    } else {
      pick(task, row, n, k, order);
    }
    for (int64_t i = 0; i < k; ++i) sorted[i] = row[order[i]];
    store_lane(*context.kernels, x.dtype, sorted, k, at[1], windows[1].back_stride(0));
    store_lane(*context.kernels, windows[2].dtype, order, k, at[2], windows[2].back_stride(0));
  });
}

}  // namespace

Result<void> run(const SortTask& task, const TaskContext& context, int64_t begin, int64_t end) {
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
