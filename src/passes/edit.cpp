#include "passes/edit.h"

namespace tw::passes {

Neighbours::Neighbours(const ir::Graph& graph)
    : graph_(graph), made_by_(ir::producers(graph)), uses_(ir::use_counts(graph)) {
  for (const ir::ValueId id : graph.outputs)
    ++uses_[static_cast<size_t>(id)];  // an output never counts as used once
}

const ir::Node* Neighbours::producer(ir::ValueId id) const {
  const int index = producer_index(id);
  return index < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(index)];
}

const ir::Node* Neighbours::producer(ir::ValueId id, std::string_view op) const {
  const ir::Node* node = producer(id);
  return node != nullptr && node->op->name == op ? node : nullptr;
}

std::optional<double> scalar_constant(const ir::Graph& graph, ir::ValueId id) {
  if (id == ir::kNoValue) return std::nullopt;
  const auto& constant = graph.value(id).constant;
  if (!constant || constant->count() != 1) return std::nullopt;
  return constant->float_at(0);
}

std::optional<WithScalar> with_scalar(const ir::Graph& graph, const ir::Node& node) {
  if (node.inputs.size() != 2) return std::nullopt;
  if (const auto right = scalar_constant(graph, node.inputs[1]))
    return WithScalar{node.inputs[0], *right, 1};
  if (const auto left = scalar_constant(graph, node.inputs[0]))
    return WithScalar{node.inputs[1], *left, 0};
  return std::nullopt;
}

Result<int> rewrite_nodes(ir::Graph& graph,
                          const std::function<Result<std::optional<std::vector<ir::ValueId>>>(
                              const ir::Node&, ir::GraphBuilder&)>& rewrite) {
  std::vector<ir::Node> old = std::move(graph.nodes);
  graph.nodes.clear();
  std::vector<ir::Node> made;
  std::vector<ir::ValueId> stands_for(graph.values.size());
  for (size_t i = 0; i < stands_for.size(); ++i) stands_for[i] = static_cast<ir::ValueId>(i);
  const auto resolve = [&](ir::ValueId id) {
    return id != ir::kNoValue && static_cast<size_t>(id) < stands_for.size()
               ? stands_for[static_cast<size_t>(id)]
               : id;
  };
  int fired = 0;
  for (ir::Node& node : old) {
    for (ir::ValueId& id : node.inputs) id = resolve(id);
    const size_t before = made.size();
    ir::GraphBuilder builder(graph, made, node.name);
    const auto replaced = TRY(rewrite(node, builder).in(cat("node '", node.name, "'")));
    if (!replaced) {
      made.resize(before);
      made.push_back(std::move(node));
      continue;
    }
    ++fired;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == ir::kNoValue || (*replaced)[i] == ir::kNoValue) continue;
      stands_for[static_cast<size_t>(node.outputs[i])] = (*replaced)[i];
      // The model's name goes along, unless the value already has one that the model gave (an
      // input, a constant).
      ir::Value& now = graph.value((*replaced)[i]);
      const bool fresh =
          made.size() > before && static_cast<size_t>((*replaced)[i]) >= stands_for.size();
      if (fresh) std::swap(now.name, graph.value(node.outputs[i]).name);
    }
  }
  // A rewrite may have named a value from before that another rewrite replaced.
  const auto settle = [&](ir::ValueId id) {
    while (resolve(id) != id) id = resolve(id);
    return id;
  };
  for (ir::Node& node : made)
    for (ir::ValueId& id : node.inputs) id = settle(id);
  graph.nodes = std::move(made);
  for (ir::ValueId& id : graph.outputs) id = settle(id);
  return fired;
}

int remove_dead_nodes(ir::Graph& graph) {
  std::vector<int> uses = ir::use_counts(graph);
  std::vector<bool> dead(graph.nodes.size(), false);
  int removed = 0;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    bool used = false;
    for (const ir::ValueId id : graph.nodes[n].outputs)
      used = used || (id != ir::kNoValue && uses[static_cast<size_t>(id)] > 0);
    if (used) continue;
    dead[n] = true;
    ++removed;
    for (const ir::ValueId id : graph.nodes[n].inputs)
      if (id != ir::kNoValue) --uses[static_cast<size_t>(id)];
  }
  std::vector<ir::Node> kept;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (!dead[n]) kept.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(kept);
  return removed;
}

bool is_pointwise(const ir::Node& node) {
  return node.op->pointwise != nullptr && node.outputs.size() == 1;
}
bool is_control(const ir::Node& node) {
  return node.op->name == "if" || node.op->name == "loop" || node.op->name == "scan";
}
bool same_shape(const ir::Graph& graph, ir::ValueId a, ir::ValueId b) {
  return graph.value(a).type.shape == graph.value(b).type.shape;
}

}  // namespace tw::passes
