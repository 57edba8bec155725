#include "ops/shape/common_slice.h"

#include <algorithm>
#include <limits>

#include "ops/shape/common_dims.h"

namespace tw::ops {
namespace {

/// Exporters write the largest int64 or int32 for "to the end" and their negatives for "to the
/// begin".
constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();

/// Behind every size, and twice that is still an int64.
constexpr int64_t kBeyond = int64_t{1} << 61;

/// `at` counted from the front, not clamped. Numbers that no symbolic size reaches become the size
/// itself (or -1 from the front), which keeps min(..) out of shapes.
Dim from_front(const Dim& at, const Dim& size) {
  if (at.is_constant() && !size.is_constant()) {
    if (at.constant() >= kToTheEnd) return size;
    if (at.constant() <= -kToTheEnd) return Dim(-1);
  }
  if (!at.is_constant()) return wrap_negative(at, size);
  return wrap_negative(std::clamp(at.constant(), -kBeyond, kBeyond), size);
}

}  // namespace

SlicedAxis slice_axis(size_t axis, const Dim& size, const Dim& start, const Dim& end,
                      int64_t step) {
  const Dim from = from_front(start, size), to = from_front(end, size);
  if (step > 0) {
    // A start behind the size and an end before the front give no elements, clamped or not.
    const Dim first = at_least_zero(from);
    return {axis, first, at_least_zero(ceil_div(tight_min(to, size) - first, step)), step};
  }
  const Dim first = tight_min(from, size - Dim(1));
  return {axis, first, at_least_zero(ceil_div(first - tight_max(to, Dim(-1)), Dim(-step))), step};
}

Result<std::vector<SlicedAxis>> slice_axes(const ir::Shape& x, const std::vector<Dim>& starts,
                                           const std::vector<Dim>& ends,
                                           const std::vector<size_t>& axes,
                                           const std::vector<int64_t>& steps) {
  const size_t n = starts.size();
  if (ends.size() != n || (!axes.empty() && axes.size() != n) ||
      (!steps.empty() && steps.size() != n) || n > x.size())
    return error(Code::kInvalidModel, "'starts', 'ends', 'axes' and 'steps' have ", n, ", ",
                 ends.size(), ", ", axes.size(), " and ", steps.size(), " elements for rank ",
                 x.size());
  std::vector<SlicedAxis> sliced;
  for (size_t k = 0; k < n; ++k) {
    const size_t axis = axes.empty() ? k : axes[k];
    const int64_t step = steps.empty() ? 1 : steps[k];
    if (step == 0) return error(Code::kInvalidModel, "'steps' holds 0");
    sliced.push_back(slice_axis(axis, x[axis], starts[k], ends[k], step));
  }
  return sliced;
}

}  // namespace tw::ops
