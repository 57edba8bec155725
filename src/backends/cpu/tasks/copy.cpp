// copy: after merging, three shapes of work are left: runs contiguous on both sides, planes that
// are contiguous along different dims (a transpose), and everything else.
#include <cstring>

#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"

namespace tw::cpu {
namespace {

CopyFn kernel_for(const Kernels& kernels, int64_t element) {
  switch (element) {
    case 1:
      return kernels.copy.size1;
    case 2:
      return kernels.copy.size2;
    case 4:
      return kernels.copy.size4;
    default:
      return kernels.copy.size8;
  }
}

/// Moves the dim along which the source is contiguous next to the last, so that it and the last dim
/// make one plane.
void pair_dims(LoopNest& nest, int64_t element) {
  if (nest.rank < 3) return;
  size_t best = nest.rank - 2;
  for (size_t d = 0; d + 1 < nest.rank; ++d) {
    if (nest.strides[0][d] == element) best = d;
  }
  for (size_t d = best; d + 2 < nest.rank; ++d) {
    std::swap(nest.dims[d], nest.dims[d + 1]);
    for (auto& strides : nest.strides) std::swap(strides[d], strides[d + 1]);
  }
}

}  // namespace

void copy_window(const Kernels& kernels, const Window& from, const Window& to) {
  const std::array<Window, 2> windows = {from, to};
  LoopNest nest(to.dims, windows);
  const int64_t element = to.element_bytes();
  const size_t col = nest.rank - 1;
  if (nest.strides[0][col] == element && nest.strides[1][col] == element) {
    const auto bytes = static_cast<size_t>(nest.dims[col] * element);
    return nest.for_each(1, [&](const auto& at) { std::memcpy(at[1], at[0], bytes); });
  }
  pair_dims(nest, element);
  CopyArgs args{.rows = nest.rank > 1 ? nest.dims[col - 1] : 1, .cols = nest.dims[col]};
  if (nest.rank > 1) {
    args.src_row = nest.strides[0][col - 1] / element;
    args.dst_row = nest.strides[1][col - 1] / element;
  }
  args.src_col = nest.strides[0][col] / element;
  args.dst_col = nest.strides[1][col] / element;
  const CopyFn copy = kernel_for(kernels, element);
  nest.for_each(2, [&](const auto& at) {
    args.src = at[0];
    args.dst = at[1];
    copy(args);
  });
}

Result<void> run(const task::CopyTask& task, const TaskContext& context, int64_t begin,
                 int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    copy_window(*context.kernels, window(context, task.x.id, box), window(context, task.y.id, box));
  }
  return {};
}

}  // namespace tw::cpu
