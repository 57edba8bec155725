// common_axes.h: axes and indices that may count from the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/dim.h"
#include "base/result.h"

namespace tw::ops {

/// `axis` in [0, rank), for an axis that inference has checked.
inline size_t wrapped_axis(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

/// The axes in [0, rank), in the order given. Fails, naming `what`, on one out of range or given
/// twice.
Result<std::vector<size_t>> distinct_axes(const std::vector<int64_t>& axes, size_t rank,
                                          std::string_view what);

/// `index` in [0, size) from one in [-size, size). Fails, naming `what`.
Result<int64_t> wrapped_index(int64_t index, int64_t size, std::string_view what);

/// The dims as numbers; nothing when `dims` is null or a symbol is left.
std::optional<std::vector<int64_t>> all_numbers(const std::vector<Dim>* dims);

}  // namespace tw::ops
