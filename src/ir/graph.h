// graph.h: the compiler's graph of ops: values in single assignment, nodes in topological order.
// Plain data; meaning is in OpDef (ir/op_def.h), legality in ir/verify.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "base/tensor.h"

namespace tw::ir {

struct OpDef;
struct Graph;

using Shape = std::vector<Dim>;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  friend bool operator==(const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.shape == b.shape;
  }
};
/// "f32[batch,4]".
std::string to_string(const TensorType& type);
/// The numbers of a shape without symbols; nothing when a symbol is left.
std::optional<Dims> concrete(const Shape& shape);
Shape to_shape(const Dims& dims);
Dim element_count(const Shape& shape);

enum class ValueId : uint32_t {
};
/// An optional input that a node does not have.
inline constexpr ValueId kNoValue{0xffffffffU};

struct Value {
  std::string name;  // unique in its graph, kept from the model where it had one
  TensorType type;
  std::optional<Tensor> constant;  // a weight or literal; then no node makes it
  std::optional<std::vector<Dim>>
      ints;  // the elements of a small integer tensor, as far as shapes determine them
};

using Attr = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                          std::vector<std::string>, Tensor, std::shared_ptr<const Graph>>;
using Attrs = std::map<std::string, Attr, std::less<>>;

struct Node {
  const OpDef* op = nullptr;
  std::string name;
  std::vector<ValueId> inputs;  // trailing absent optional inputs are dropped, others are kNoValue
  std::vector<ValueId> outputs;
  Attrs attrs;  // only what differs from the op's defaults or has none
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;  // every node stands after the producers of its inputs
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  /// The next suffix for a symbol that stands for a size known only from data ("u0", "u1" ...).
  int n_fresh_symbols = 0;
  /// The float type that arithmetic on f32 values is asked to be done in; nothing: f32.
  std::optional<DType> compute_type;

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  ValueId add_value(Value value);
  /// A constant value holding `tensor`; integers of at most 64 elements get `ints` too.
  ValueId add_constant(std::string value_name, Tensor tensor);
};

/// For each value, the index of the node that makes it, or -1.
std::vector<int> producers(const Graph& graph);
/// For each value, how many node inputs and graph outputs name it.
std::vector<int> use_counts(const Graph& graph);
/// Every use of `from` (in nodes and outputs) becomes `to`.
void replace_uses(Graph& graph, ValueId from, ValueId to);

}  // namespace tw::ir
