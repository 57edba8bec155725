// graph_input.h: inputs of the small graphs that tests of GPU plans compile.
#pragma once

#include <string>

#include "ir/graph.h"

namespace tw::gpu {

inline ir::ValueId add_input(ir::Graph& graph, std::string name, DType dtype, ir::Shape shape) {
  ir::Value value;
  value.name = std::move(name);
  value.type = {dtype, std::move(shape)};
  graph.inputs.push_back(graph.add_value(std::move(value)));
  return graph.inputs.back();
}

}  // namespace tw::gpu
