#include "frontends/onnx/scope.h"

#include "ir/infer.h"

namespace tw::onnx {

Scope::Scope(const RawGraph& raw_graph, Scope* outer_scope, int64_t* nodes_left)
    : raw(raw_graph),
      outer(outer_scope),
      depth(outer_scope == nullptr ? 0 : outer_scope->depth + 1),
      n_nodes_left(nodes_left) {
  graph.name = raw.name;
  if (outer != nullptr) graph.n_fresh_symbols = outer->graph.n_fresh_symbols;
  for (const RawInput& input : raw.inputs) taken.insert(input.name);
  for (const auto& [name, _] : raw.initialisers) taken.insert(name);
  for (const RawNode& node : raw.nodes) taken.insert(node.outputs.begin(), node.outputs.end());
}

std::optional<ir::ValueId> Scope::find(const std::string& name) {
  const auto known = names.find(name);
  if (known != names.end()) return known->second;
  const auto initialiser = raw.initialisers.find(name);
  if (initialiser != raw.initialisers.end())
    return names[name] = graph.add_constant(name, initialiser->second);
  if (outer == nullptr) return std::nullopt;
  const auto outside = outer->find(name);
  if (!outside) return std::nullopt;
  const ir::Value& value = outer->graph.value(*outside);
  if (!value.constant) return std::nullopt;
  std::string unused = name;
  while (!taken.insert(unused).second) unused += '\'';
  return names[name] = graph.add_constant(std::move(unused), *value.constant);
}

ir::ValueId Scope::add_value(const std::string& wanted, ir::Value value) {
  value.name = wanted;
  while (!taken.insert(value.name).second) value.name += '\'';
  return graph.add_value(std::move(value));
}

Result<std::vector<ir::ValueId>> find_inputs(Scope& scope, const RawNode& node) {
  std::vector<ir::ValueId> inputs;
  for (const std::string& name : node.inputs) {
    if (name.empty()) {
      inputs.push_back(ir::kNoValue);
      continue;
    }
    const auto id = scope.find(name);
    if (!id) return error(Code::kInvalidModel, "nothing defines its input ", in_quotes(name));
    inputs.push_back(*id);
  }
  while (!inputs.empty() && inputs.back() == ir::kNoValue) inputs.pop_back();
  return inputs;
}

Result<void> append_node(Scope& scope, const RawNode& node, const ir::OpDef& op,
                         std::vector<ir::ValueId> inputs, ir::Attrs attrs, size_t n_outputs) {
  ir::Node result;
  result.op = &op;
  result.name = node.name;
  result.inputs = std::move(inputs);
  result.attrs = std::move(attrs);
  for (const std::string& name : node.outputs) {
    ir::Value value;
    value.name = name;
    result.outputs.push_back(name.empty() ? ir::kNoValue : scope.graph.add_value(std::move(value)));
  }
  while (!result.outputs.empty() && result.outputs.back() == ir::kNoValue)
    result.outputs.pop_back();
  if (result.outputs.size() < n_outputs) result.outputs.resize(n_outputs, ir::kNoValue);
  TRY(ir::infer_node(scope.graph, result));
  for (size_t i = 0; i < result.outputs.size(); ++i)
    if (result.outputs[i] != ir::kNoValue) scope.names[node.outputs[i]] = result.outputs[i];
  scope.graph.nodes.push_back(std::move(result));
  return {};
}

}  // namespace tw::onnx
