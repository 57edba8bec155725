#include "backends/cpu/window.h"

namespace tw::cpu {

Window window(const TaskContext& context, task::SlotId id, const task::Box& box) {
  const task::SlotInfo& slot = context.slots[task::index(id)];
  const int64_t element = size_bytes(slot.dtype);
  Window out;
  out.data = context.addresses[task::index(id)];
  out.dtype = slot.dtype;
  for (size_t d = 0; d < slot.rank; ++d) {
    out.dims.push_back(box.end[d] - box.begin[d]);
    out.strides.push_back(slot.strides[d] * element);
    out.data += box.begin[d] * out.strides[d];
  }
  return out;
}

Window whole_window(const TaskContext& context, task::SlotId id) {
  return window(context, id, task::Box::whole(context.slots[task::index(id)]));
}

Window broadcast_window(const TaskContext& context, task::SlotId id, const task::Box& box) {
  const task::SlotInfo& slot = context.slots[task::index(id)];
  const size_t shift = box.begin.size() - slot.rank;
  task::Box part = task::Box::whole(slot);
  Dims dims;
  for (size_t d = 0; d < box.begin.size(); ++d) {
    dims.push_back(box.end[d] - box.begin[d]);
    if (d < shift || slot.dims[d - shift] == 1) continue;
    part.begin[d - shift] = box.begin[d];
    part.end[d - shift] = box.end[d];
  }
  return broadcast_to(window(context, id, part), dims);
}

Window dims_of(const Window& w, size_t first, size_t last) {
  Window out{w.data, w.dtype, {}, {}};
  for (size_t d = first; d < last; ++d) {
    out.dims.push_back(w.dims[d]);
    out.strides.push_back(w.strides[d]);
  }
  return out;
}

Window broadcast_to(const Window& operand, const Dims& dims) {
  Window out = operand;
  out.dims = dims;
  out.strides.clear();
  const size_t shift = dims.size() - operand.dims.size();
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool repeats = d < shift || operand.dims[d - shift] == 1;
    out.strides.push_back(repeats ? 0 : operand.strides[d - shift]);
  }
  return out;
}

LoopNest::LoopNest(const Dims& loop_dims, std::span<const Window> windows, bool merge)
    : n_windows(windows.size()) {
  for (size_t w = 0; w < n_windows; ++w) data[w] = windows[w].data;
  for (size_t d = 0; d < loop_dims.size(); ++d) {
    if (merge && loop_dims[d] == 1) continue;
    bool joins = merge && rank > 0;
    for (size_t w = 0; joins && w < n_windows; ++w) {
      joins = strides[w][rank - 1] == windows[w].strides[d] * loop_dims[d];
    }
    if (!joins) ++rank;
    dims[rank - 1] = joins ? dims[rank - 1] * loop_dims[d] : loop_dims[d];
    for (size_t w = 0; w < n_windows; ++w) strides[w][rank - 1] = windows[w].strides[d];
  }
  if (rank == 0) {
    rank = 1;
    dims[0] = 1;
  }
}

bool LoopNest::empty() const {
  for (size_t d = 0; d < rank; ++d) {
    if (dims[d] == 0) return true;
  }
  return false;
}

}  // namespace tw::cpu
