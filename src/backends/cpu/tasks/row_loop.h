// row_loop.h: the loop of the kinds that work on rows of the last dim.
#pragma once

#include <vector>

#include "backends/cpu/lanes.h"
#include "backends/cpu/window.h"

namespace tw::cpu {

/// visit(x, y, n, row) for each row of `box`, as contiguous elements of a lane; rows that are not
/// stored so pass through scratch. `row` counts from 0.
template <class Lane, class Visit>
void for_each_row(const TaskContext& context, task::SlotId x_id, task::SlotId y_id,
                  const task::Box& box, Visit&& visit) {
  const Window x = window(context, x_id, box), y = window(context, y_id, box);
  if (x.count() == 0) return;
  const ScratchScope scope(*context.scratch);
  const int64_t n = x.back_dim(0);
  const auto element = static_cast<int64_t>(sizeof(Lane));
  const bool x_direct = is_lane<Lane>(x.dtype) && (x.back_stride(0) == element || n == 1);
  const bool y_direct = is_lane<Lane>(y.dtype) && (y.back_stride(0) == element || n == 1);
  Lane* x_row = x_direct ? nullptr : context.scratch->take<Lane>(n);
  Lane* y_row = y_direct ? nullptr : context.scratch->take<Lane>(n);
  const std::array<Window, 2> windows = {x, y};
  const LoopNest nest(x.dims, windows, false);
  int64_t row = 0;
  nest.for_each(1, [&](const auto& at) {
    if (!x_direct) load_lane(*context.kernels, x.dtype, at[0], x.back_stride(0), n, x_row);
    const Lane* from = x_direct ? reinterpret_cast<const Lane*>(at[0]) : x_row;
    Lane* to = y_direct ? reinterpret_cast<Lane*>(at[1]) : y_row;
    visit(from, to, n, row++);
    if (!y_direct) store_lane(*context.kernels, y.dtype, to, n, at[1], y.back_stride(0));
  });
}

/// One optional number a row ([.., 1] operands).
class RowStores {
 public:
  RowStores(const TaskContext& context, task::SlotId id, const task::Box& rows) {
    if (id == task::kNoSlot) return;
    const Window w = window(context, id, rows);
    dtype_ = w.dtype;
    const LoopNest nest(w.dims, {&w, 1}, false);
    nest.for_each(0, [&](const auto& at) { places_.push_back(at[0]); });
  }
  template <class Lane>
  void put(const Kernels& kernels, int64_t row, Lane value) const {
    if (places_.empty()) return;
    store_lane(kernels, dtype_, &value, 1, places_[static_cast<size_t>(row)], 0);
  }

 private:
  DType dtype_ = DType::kF32;
  std::vector<std::byte*> places_;
};

}  // namespace tw::cpu
