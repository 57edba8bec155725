// contexts.h: what an op's hooks see. One class a hook; each gives the node's inputs and attributes
// and takes its results.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace tw::ir {

/// Attribute access shared by all hooks. A name that the op does not declare is our own mistake
/// (CHECK).
class NodeView {
 public:
  explicit NodeView(const Node& node) : node_(node) {}
  const Node& node() const { return node_; }
  bool has_attr(std::string_view name) const;
  int64_t attr_int(std::string_view name) const;
  double attr_float(std::string_view name) const;
  std::string attr_string(std::string_view name) const;
  std::vector<int64_t> attr_ints(std::string_view name) const;   // empty when absent
  std::vector<double> attr_floats(std::string_view name) const;  // empty when absent
  const Tensor& attr_tensor(std::string_view name) const;
  const Graph& attr_graph(std::string_view name) const;

  size_t n_inputs() const { return node_.inputs.size(); }
  size_t n_outputs() const { return node_.outputs.size(); }
  /// Whether optional input (output) `i` is there.
  bool has(size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }
  bool has_out(size_t i) const { return i < node_.outputs.size() && node_.outputs[i] != kNoValue; }

 private:
  const Node& node_;
};

/// Output types from input types.
class InferContext : public NodeView {
 public:
  /// `inputs` are in the node's order, null where absent; they outlive the context.
  InferContext(const Node& node, std::vector<const Value*> inputs, int* n_fresh_symbols)
      : NodeView(node),
        inputs_(std::move(inputs)),
        n_fresh_symbols_(n_fresh_symbols),
        outputs_(node.outputs.size()) {}

  const TensorType& in(size_t i) const { return inputs_[i]->type; }
  const Shape& shape(size_t i) const { return inputs_[i]->type.shape; }
  int64_t rank(size_t i) const { return static_cast<int64_t>(shape(i).size()); }
  /// The elements of an integer input as far as shapes determine them; null when only data can
  /// tell.
  const std::vector<Dim>* ints(size_t i) const;
  const Tensor* constant(size_t i) const;
  /// `ints(i)` when all of them are plain numbers.
  std::optional<std::vector<int64_t>> constant_ints(size_t i) const;
  /// Axis in [0, rank) from one that may count from the end; an error names the attribute or input.
  Result<int64_t> axis(int64_t value, int64_t rank, std::string_view what) const;

  void out(size_t i, TensorType type);
  void out_ints(size_t i, std::vector<Dim> ints);
  /// A new symbol for a size that only data can tell.
  Dim fresh_symbol();

  const std::vector<Value>& outputs() const { return outputs_; }

 private:
  std::vector<const Value*> inputs_;
  int* n_fresh_symbols_;
  std::vector<Value> outputs_;
};

/// Reference evaluation: inputs are concrete, outputs whose shape inference knows are allocated and
/// zero.
class EvalContext : public NodeView {
 public:
  EvalContext(const Node& node, std::vector<const Tensor*> inputs, std::vector<Tensor> outputs)
      : NodeView(node), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  const Tensor& in(size_t i) const { return *inputs_[i]; }
  Tensor& out(size_t i) { return outputs_[i]; }
  /// For outputs whose size depends on data.
  Result<void> allocate(size_t i, DType dtype, const Dims& dims);
  void set_out(size_t i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  std::vector<Tensor>& outputs() { return outputs_; }

 private:
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor> outputs_;
};

/// Makes nodes: checks them against their OpDef, infers their types and appends them to `sink`.
class GraphBuilder {
 public:
  GraphBuilder(Graph& graph, std::vector<Node>& sink, std::string name_prefix)
      : graph_(graph), sink_(sink), prefix_(std::move(name_prefix)) {}

  /// The first output of a new node.
  Result<ValueId> op(std::string_view op_name, std::vector<ValueId> inputs, Attrs attrs = {});
  /// All `n_outputs` of a new node.
  Result<std::vector<ValueId>> ops(std::string_view op_name, std::vector<ValueId> inputs,
                                   Attrs attrs, size_t n_outputs);
  ValueId constant(Tensor tensor);
  ValueId ints(const std::vector<int64_t>& values);  // i64[n]
  ValueId scalar(DType dtype, double value);         // 0-d
  /// By value: new nodes move the graph's values.
  TensorType type(ValueId id) const { return graph_.value(id).type; }
  Graph& graph() { return graph_; }

 private:
  std::string fresh_name(std::string_view hint);
  Graph& graph_;
  std::vector<Node>& sink_;
  std::string prefix_;
};

/// The op in terms of others: build with `b()`, then name the value that stands for each output.
class DecomposeContext : public NodeView {
 public:
  DecomposeContext(const Node& node, GraphBuilder& builder)
      : NodeView(node), builder_(builder), results_(node.outputs.size(), kNoValue) {}
  GraphBuilder& b() { return builder_; }
  ValueId in(size_t i) const { return node().inputs[i]; }
  TensorType type(size_t i) const { return builder_.type(node().inputs[i]); }
  Value value(size_t i) const { return builder_.graph().value(node().inputs[i]); }
  TensorType out_type(size_t i) const { return builder_.type(node().outputs[i]); }
  void set_out(size_t i, ValueId id) { results_[i] = id; }
  const std::vector<ValueId>& results() const { return results_; }

 private:
  GraphBuilder& builder_;
  std::vector<ValueId> results_;
};

/// An ONNX node of an older or different form: read its raw attributes and inputs, build what it
/// means.
class ImportContext {
 public:
  ImportContext(std::string_view op_type, int opset, std::vector<ValueId> inputs, size_t n_outputs,
                Attrs attrs, GraphBuilder& b)
      : op_type_(op_type),
        opset_(opset),
        inputs_(std::move(inputs)),
        attrs_(std::move(attrs)),
        builder_(b),
        results_(n_outputs, kNoValue) {}
  std::string_view op_type() const { return op_type_; }
  int opset() const { return opset_; }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != kNoValue; }
  size_t n_inputs() const { return inputs_.size(); }
  size_t n_outputs() const { return results_.size(); }
  ValueId in(size_t i) const { return i < inputs_.size() ? inputs_[i] : kNoValue; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  Value value(size_t i) const { return builder_.graph().value(inputs_[i]); }
  /// Raw ONNX attributes; remove what has been dealt with, the rest is passed on or refused.
  Attrs& attrs() { return attrs_; }
  int64_t attr_int(std::string_view name, int64_t fallback) const;
  double attr_float(std::string_view name, double fallback) const;
  std::string attr_string(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> attr_ints(std::string_view name) const;
  GraphBuilder& b() { return builder_; }
  void set_out(size_t i, ValueId id) { results_[i] = id; }
  const std::vector<ValueId>& results() const { return results_; }

 private:
  std::string_view op_type_;
  int opset_;
  std::vector<ValueId> inputs_;
  Attrs attrs_;
  GraphBuilder& builder_;
  std::vector<ValueId> results_;
};

}  // namespace tw::ir
