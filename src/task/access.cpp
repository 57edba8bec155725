#include "task/access.h"

#include <algorithm>

namespace tw::task {

bool is_contiguous(const SlotInfo& slot) {
  int64_t expected = 1;
  for (int d = slot.rank - 1; d >= 0; --d) {
    if (slot.dims[d] != 1 && slot.strides[d] != expected) return slot.count() == 0;
    expected *= slot.dims[d];
  }
  return true;
}

Dims contiguous_strides(const Dims& dims) {
  Dims strides = dims;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

ByteRange byte_range(const SlotInfo& slot, const Box& box) {
  if (box.count() == 0) return {};
  if (slot.layout != Layout::kStrided) return {0, slot.storage_bytes};
  int64_t low = 0, high = 0;
  for (int d = 0; d < slot.rank; ++d) {
    const int64_t a = box.begin[static_cast<size_t>(d)] * slot.strides[d];
    const int64_t b = (box.end[static_cast<size_t>(d)] - 1) * slot.strides[d];
    low += std::min(a, b);
    high += std::max(a, b);
  }
  const int64_t element = size_bytes(slot.dtype);
  return {slot.offset_in_root() + low * element, slot.offset_in_root() + (high + 1) * element};
}

Box Box::whole(const SlotInfo& slot) {
  Box box;
  box.end = slot.shape();
  box.begin.resize(box.end.size());
  return box;
}

int64_t Box::count() const {
  int64_t n = 1;
  for (size_t d = 0; d < begin.size(); ++d) n *= std::max<int64_t>(0, end[d] - begin[d]);
  return n;
}

bool Box::overlaps(const Box& other) const { return intersect(other).count() > 0; }

Box Box::intersect(const Box& other) const {
  Box common = *this;
  for (size_t d = 0; d < begin.size(); ++d) {
    common.begin[d] = std::max(begin[d], other.begin[d]);
    common.end[d] = std::max(common.begin[d], std::min(end[d], other.end[d]));
  }
  return common;
}

Tiling Tiling::make(const Dims& dims, size_t n_outer, int64_t target) {
  Tiling tiling;
  tiling.dims = dims;
  const int64_t total = element_count(dims);
  if (total == 0) {
    tiling.n_tiles = 0;
    return tiling;
  }
  if (!dims.empty()) tiling.chunk = dims[0];
  if (n_outer == 0) return tiling;
  // The cut moves inwards until a slice behind the axis is no larger than the target.
  int64_t outer = 1, inner = total;
  for (size_t d = 0; d < n_outer; ++d) {
    inner /= dims[d];
    tiling.axis = static_cast<int64_t>(d);
    if (inner <= target) break;
    if (d + 1 < n_outer) outer *= dims[d];
  }
  const int64_t extent = dims[static_cast<size_t>(tiling.axis)];
  tiling.chunk = std::clamp<int64_t>(target / std::max<int64_t>(inner, 1), 1, extent);
  tiling.n_chunks = (extent + tiling.chunk - 1) / tiling.chunk;
  tiling.n_tiles = outer * tiling.n_chunks;
  return tiling;
}

Box Tiling::tile(int64_t i) const {
  Box box;
  box.end = dims;
  box.begin.resize(dims.size());
  if (dims.empty()) return box;
  const auto cut = static_cast<size_t>(axis);
  box.begin[cut] = i % n_chunks * chunk;
  box.end[cut] = std::min(dims[cut], box.begin[cut] + chunk);
  int64_t rest = i / n_chunks;
  for (size_t d = cut; d-- > 0;) {
    box.begin[d] = rest % dims[d];
    box.end[d] = box.begin[d] + 1;
    rest /= dims[d];
  }
  return box;
}

}  // namespace tw::task
