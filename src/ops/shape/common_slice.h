// common_slice.h: what Slice's numbers mean, for sizes that may be symbols. Also how padding crops.
#pragma once

#include <vector>

#include "base/dim.h"
#include "base/result.h"
#include "ir/graph.h"

namespace tw::ops {

/// Coordinates start, start + step, .. of one axis, `count` of them. `start` is in range whenever
/// count is not 0.
struct SlicedAxis {
  size_t axis;
  Dim start, count;
  int64_t step;
};

/// The coordinates from `start` to before `end` by `step` (not 0) on a dim of `size`; both may
/// count from the end and are clamped as numpy clamps them.
SlicedAxis slice_axis(size_t axis, const Dim& size, const Dim& start, const Dim& end, int64_t step);

/// One for each of `axes` (empty: 0, 1, ..). Fails when the lists do not agree; `steps` may be
/// empty.
Result<std::vector<SlicedAxis>> slice_axes(const ir::Shape& x, const std::vector<Dim>& starts,
                                           const std::vector<Dim>& ends,
                                           const std::vector<size_t>& axes,
                                           const std::vector<int64_t>& steps);

}  // namespace tw::ops
