// graph_input.h: inputs of the small graphs that tests of GPU plans compile, and values for them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/tensor.h"
#include "ir/graph.h"

namespace tw::gpu {

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) ADD_FAILURE() << result.error().message;
  return std::move(result).take();
}

/// 0, step, 2 step ...
inline Tensor counting(const Dims& dims, double step = 1) {
  Tensor tensor = value_of(Tensor::try_make(DType::kF32, dims));
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.set_float(i, static_cast<double>(i) * step);
  return tensor;
}

inline ir::ValueId add_input(ir::Graph& graph, std::string name, DType dtype, ir::Shape shape) {
  ir::Value value;
  value.name = std::move(name);
  value.type = {dtype, std::move(shape)};
  graph.inputs.push_back(graph.add_value(std::move(value)));
  return graph.inputs.back();
}

}  // namespace tw::gpu
