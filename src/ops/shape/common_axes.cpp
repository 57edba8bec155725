#include "ops/shape/common_axes.h"

#include <algorithm>

namespace tw::ops {

Result<std::vector<size_t>> distinct_axes(const std::vector<int64_t>& axes, size_t rank,
                                          std::string_view what) {
  const auto end = static_cast<int64_t>(rank);
  std::vector<size_t> wrapped;
  for (const int64_t axis : axes) {
    if (axis < -end || axis >= end)
      return error(Code::kInvalidModel, what, " holds ", axis, ", expected ", -end, " to ", end - 1,
                   " for rank ", rank);
    wrapped.push_back(wrapped_axis(axis, rank));
    if (std::count(wrapped.begin(), wrapped.end(), wrapped.back()) > 1)
      return error(Code::kInvalidModel, what, " names axis ", wrapped.back(), " twice");
  }
  return wrapped;
}

Result<int64_t> wrapped_index(int64_t index, int64_t size, std::string_view what) {
  if (index < -size || index >= size)
    return error(Code::kInvalidArgument, what, " holds ", index, ", expected ", -size, " to ",
                 size - 1);
  return index < 0 ? index + size : index;
}

std::optional<std::vector<int64_t>> all_numbers(const std::vector<Dim>* dims) {
  if (dims == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim& dim : *dims) {
    if (!dim.is_constant()) return std::nullopt;
    numbers.push_back(dim.constant());
  }
  return numbers;
}

}  // namespace tw::ops
