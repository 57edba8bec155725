#include "ops/nn/common_values.h"

#include <algorithm>

namespace tw::ops {

template <>
std::vector<double> to_values<double>(const Tensor& tensor) {
  const auto count = static_cast<size_t>(tensor.count());
  std::vector<double> values(count);
  if (tensor.dtype() == DType::kF32) {
    std::copy_n(tensor.as<float>(), count, values.data());
  } else {
    for (size_t i = 0; i < count; ++i) values[i] = tensor.float_at(static_cast<int64_t>(i));
  }
  return values;
}

template <>
std::vector<uint64_t> to_values<uint64_t>(const Tensor& tensor) {
  std::vector<uint64_t> values(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint64_t>(tensor.int_at(static_cast<int64_t>(i)));
  return values;
}

template <>
void from_values<double>(const std::vector<double>& values, Tensor& tensor) {
  for (size_t i = 0; i < values.size(); ++i) tensor.set_float(static_cast<int64_t>(i), values[i]);
}

template <>
void from_values<uint64_t>(const std::vector<uint64_t>& values, Tensor& tensor) {
  for (size_t i = 0; i < values.size(); ++i)
    tensor.set_int(static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
}

}  // namespace tw::ops
