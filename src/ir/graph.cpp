#include "ir/graph.h"

namespace tw::ir {
namespace {

constexpr int64_t kMaxKnownInts =
    64;  // shape arithmetic works on lists of dims; anything longer is data

}  // namespace

std::string to_string(const TensorType& type) {
  return cat(type.dtype, "[", join(type.shape, ","), "]");
}

std::optional<Dims> concrete(const Shape& shape) {
  if (shape.size() > kMaxRank) return std::nullopt;
  Dims dims;
  for (const Dim& dim : shape) {
    if (!dim.is_constant()) return std::nullopt;
    dims.push_back(dim.constant());
  }
  return dims;
}

Shape to_shape(const Dims& dims) { return Shape(dims.begin(), dims.end()); }

Dim element_count(const Shape& shape) {
  Dim count(1);
  for (const Dim& dim : shape) count = count * dim;
  return count;
}

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  Value value;
  value.name = std::move(value_name);
  value.type = {tensor.dtype(), to_shape(tensor.dims())};
  const bool small =
      (is_int(tensor.dtype()) || tensor.dtype() == DType::kBool) && tensor.rank() <= 1;
  if (small && tensor.count() <= kMaxKnownInts) {
    value.ints.emplace();
    for (int64_t i = 0; i < tensor.count(); ++i) value.ints->push_back(Dim(tensor.int_at(i)));
  }
  value.constant = std::move(tensor);
  return add_value(std::move(value));
}

std::vector<int> producers(const Graph& graph) {
  std::vector<int> made_by(graph.values.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].outputs)
      if (id != kNoValue) made_by[static_cast<size_t>(id)] = static_cast<int>(n);
  return made_by;
}

std::vector<int> use_counts(const Graph& graph) {
  std::vector<int> uses(graph.values.size(), 0);
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.inputs)
      if (id != kNoValue) ++uses[static_cast<size_t>(id)];
  for (const ValueId id : graph.outputs) ++uses[static_cast<size_t>(id)];
  return uses;
}

void replace_uses(Graph& graph, ValueId from, ValueId to) {
  for (Node& node : graph.nodes)
    for (ValueId& id : node.inputs)
      if (id == from) id = to;
  for (ValueId& id : graph.outputs)
    if (id == from) id = to;
}

}  // namespace tw::ir
