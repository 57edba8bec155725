// lower.cpp: the windows that lowering hooks use, each as dims, strides and offset on the storage
// of a slot.
#include "ops/lower.h"

namespace tw::ops {

task::SlotId LowerContext::reshape(task::SlotId slot, const ir::Shape& to) {
  std::vector<Dim> row_major(to.size(), Dim(1));
  for (size_t d = to.size(); d-- > 1;) row_major[d - 1] = row_major[d] * to[d];
  return view(slot, to, row_major, offset(slot));
}

task::SlotId LowerContext::permute(task::SlotId slot, const std::vector<int64_t>& permutation) {
  const ir::Shape& from = dims(slot);
  const std::vector<Dim> from_strides = strides(slot);
  CHECK(permutation.size() == from.size(), "a permutation names every dim once");
  ir::Shape to;
  std::vector<Dim> to_strides;
  for (const int64_t d : permutation) {
    to.push_back(from[static_cast<size_t>(d)]);
    to_strides.push_back(from_strides[static_cast<size_t>(d)]);
  }
  return view(slot, to, to_strides, offset(slot));
}

task::SlotId LowerContext::slice(task::SlotId slot, size_t axis, const Dim& start, const Dim& count,
                                 int64_t step) {
  ir::Shape to = dims(slot);
  std::vector<Dim> to_strides = strides(slot);
  const Dim to_offset = offset(slot) + start * to_strides[axis];
  to[axis] = count;
  to_strides[axis] = to_strides[axis] * Dim(step);
  return view(slot, to, to_strides, to_offset);
}

task::SlotId LowerContext::broadcast(task::SlotId slot, const ir::Shape& to) {
  const ir::Shape& from = dims(slot);
  const std::vector<Dim> from_strides = strides(slot);
  CHECK(from.size() <= to.size(), "broadcasting only adds dims");
  const size_t n_added = to.size() - from.size();
  std::vector<Dim> to_strides(to.size(), Dim(0));
  for (size_t d = 0; d < from.size(); ++d)
    if (!(from[d] == Dim(1)) || to[n_added + d] == Dim(1))
      to_strides[n_added + d] = from_strides[d];
  return view(slot, to, to_strides, offset(slot));
}

}  // namespace tw::ops
