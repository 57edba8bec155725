#include "ir/evaluate.h"

#include "ir/contexts.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace tw::ir {
namespace {

/// A graph that holds `node` alone, its inputs as constants: shape inference then sees data, as
/// evaluation does.
struct Bench {
  Graph graph;
  Node node;
};

Bench make_bench(const Node& node, const std::vector<const Tensor*>& inputs) {
  Bench bench;
  bench.node = node;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    bench.node.inputs[i] =
        inputs[i] == nullptr ? kNoValue : bench.graph.add_constant(cat("in", i), *inputs[i]);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Value value;
    value.name = cat("out", i);
    bench.node.outputs[i] =
        node.outputs[i] == kNoValue ? kNoValue : bench.graph.add_value(std::move(value));
  }
  return bench;
}

Result<std::vector<Tensor>> run_reference(const Bench& bench,
                                          const std::vector<const Tensor*>& inputs) {
  std::vector<Tensor> outputs(bench.node.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (bench.node.outputs[i] == kNoValue) continue;
    const TensorType& type = bench.graph.value(bench.node.outputs[i]).type;
    if (const auto dims = concrete(type.shape))
      outputs[i] = TRY(Tensor::try_make(type.dtype, *dims));
  }
  EvalContext context(bench.node, inputs, std::move(outputs));
  TRY(bench.node.op->reference(context));
  return std::move(context.outputs());
}

Result<std::vector<Tensor>> run_decomposition(Bench& bench) {
  std::vector<Node> nodes;
  GraphBuilder builder(bench.graph, nodes, bench.node.name);
  DecomposeContext context(bench.node, builder);
  TRY(bench.node.op->decompose(context));
  bench.graph.nodes = std::move(nodes);
  std::vector<size_t> present;
  for (size_t i = 0; i < bench.node.outputs.size(); ++i) {
    if (bench.node.outputs[i] == kNoValue) continue;
    bench.graph.outputs.push_back(context.results()[i]);
    present.push_back(i);
  }
  std::vector<Tensor> values = TRY(evaluate_graph(bench.graph, {}));
  std::vector<Tensor> outputs(bench.node.outputs.size());
  for (size_t i = 0; i < present.size(); ++i) outputs[present[i]] = std::move(values[i]);
  return outputs;
}

}  // namespace

Result<std::vector<Tensor>> evaluate_node(const Node& node,
                                          const std::vector<const Tensor*>& inputs,
                                          bool prefer_decomposition) {
  const std::string place = cat("node '", node.name, "' (", node.op->name, ")");
  Bench bench = make_bench(node, inputs);
  TRY(infer_node(bench.graph, bench.node));
  const bool decompose =
      node.op->reference == nullptr || (prefer_decomposition && node.op->decompose != nullptr);
  if (decompose) return run_decomposition(bench).in(place);
  return run_reference(bench, inputs).in(place);
}

Result<std::vector<Tensor>> evaluate_graph(
    const Graph& graph, const std::vector<Tensor>& inputs,
    const std::function<void(const Node&, const std::vector<Tensor>&)>& on_node) {
  if (inputs.size() != graph.inputs.size())
    return error(Code::kInvalidArgument, "graph '", graph.name, "' takes ", graph.inputs.size(),
                 " inputs, found ", inputs.size());
  std::vector<std::optional<Tensor>> values(graph.values.size());
  for (size_t i = 0; i < graph.values.size(); ++i) values[i] = graph.values[i].constant;
  for (size_t i = 0; i < inputs.size(); ++i)
    values[static_cast<size_t>(graph.inputs[i])] = inputs[i];
  std::vector<int> uses = use_counts(graph);
  for (const Node& node : graph.nodes) {
    std::vector<const Tensor*> operands;
    for (const ValueId id : node.inputs)
      operands.push_back(id == kNoValue ? nullptr : &*values[static_cast<size_t>(id)]);
    std::vector<Tensor> outputs = TRY(evaluate_node(node, operands));
    if (on_node) on_node(node, outputs);
    for (size_t i = 0; i < outputs.size(); ++i)
      if (node.outputs[i] != kNoValue)
        values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
    for (const ValueId id : node.inputs)
      if (id != kNoValue && --uses[static_cast<size_t>(id)] == 0)
        values[static_cast<size_t>(id)].reset();
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(*values[static_cast<size_t>(id)]);
  return outputs;
}

}  // namespace tw::ir
