// common_values.h: a tensor's elements as one vector, converted once, so that references can loop
// over plain numbers. T is double for floats, uint64_t for integers (whose sums and products then
// wrap as they should).
#pragma once

#include <cstdint>
#include <vector>

#include "base/tensor.h"

namespace tw::ops {

template <class T>
std::vector<T> to_values(const Tensor& tensor);
template <class T>
void from_values(const std::vector<T>& values, Tensor& tensor);

template <>
std::vector<double> to_values<double>(const Tensor& tensor);
template <>
std::vector<uint64_t> to_values<uint64_t>(const Tensor& tensor);
template <>
void from_values<double>(const std::vector<double>& values, Tensor& tensor);
template <>
void from_values<uint64_t>(const std::vector<uint64_t>& values, Tensor& tensor);

inline std::vector<double> to_doubles(const Tensor& tensor) { return to_values<double>(tensor); }
inline void from_doubles(const std::vector<double>& values, Tensor& tensor) {
  from_values<double>(values, tensor);
}

}  // namespace tw::ops
