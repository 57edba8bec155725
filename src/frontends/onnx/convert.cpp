#include "frontends/onnx/convert.h"

#include <algorithm>

#include "frontends/onnx/attrs.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/control.h"
#include "frontends/onnx/inputs.h"
#include "frontends/onnx/names.h"
#include "frontends/onnx/scope.h"
#include "frontends/onnx/support.h"
#include "ir/contexts.h"

namespace tw::onnx {
namespace {

/// What holds for every form of an operator, so that hooks and inference need not look: the first
/// input is there unless the op does without, and a list of inputs has no gaps.
Result<void> check_inputs(const ir::OpDef& op, const std::vector<ir::ValueId>& inputs) {
  if (op.inputs.empty()) return {};
  const bool has_first = !inputs.empty() && inputs[0] != ir::kNoValue;
  if (!op.inputs[0].ends_with('?') && !has_first)
    return error(Code::kInvalidModel, "input 0 is missing");
  if (!op.inputs.back().ends_with("...")) return {};
  for (size_t i = op.inputs.size() - 1; i < inputs.size(); ++i)
    if (inputs[i] == ir::kNoValue)
      return error(Code::kInvalidModel, "input ", i, " is missing, but its list has no gaps");
  return {};
}

/// What a hook made is named after the ONNX outputs; its helpers must not carry a name that the
/// model uses.
Result<void> name_results(Scope& scope, const RawNode& node,
                          const std::vector<ir::ValueId>& results, size_t first_new_value) {
  const auto is_new = [&](ir::ValueId id) { return static_cast<size_t>(id) >= first_new_value; };
  std::vector<bool> named(scope.graph.values.size() - first_new_value, false);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= results.size() || results[i] == ir::kNoValue)
      return error(Code::kUnsupported, "output ", i, " (", in_quotes(node.outputs[i]),
                   ") is not supported");
    scope.names[node.outputs[i]] = results[i];
    if (!is_new(results[i])) continue;  // an input passed through keeps its own name
    auto is_named = named[static_cast<size_t>(results[i]) - first_new_value];
    if (!is_named) scope.graph.value(results[i]).name = node.outputs[i];
    is_named = true;
  }
  for (size_t v = 0; v < named.size(); ++v) {
    std::string& name = scope.graph.values[first_new_value + v].name;
    while (!named[v] && !scope.taken.insert(name).second) name += '\'';
  }
  return {};
}

Result<void> convert_with_hook(Scope& scope, const RawNode& node, const ir::OnnxMatch& match) {
  const std::vector<ir::ValueId> inputs = TRY(find_inputs(scope, node));
  TRY(check_inputs(*match.op, inputs));
  size_t n_outputs = node.outputs.size();
  while (n_outputs > 0 && node.outputs[n_outputs - 1].empty()) --n_outputs;
  const size_t first_new_value = scope.graph.values.size();
  ir::GraphBuilder builder(scope.graph, scope.graph.nodes, node.name);
  ir::ImportContext context(node.op_type, node.opset, inputs, n_outputs, TRY(to_attrs(node)),
                            builder);
  TRY(match.entry->import(context));
  if (!context.attrs().empty())
    return error(Code::kUnsupported, "attribute ", in_quotes(context.attrs().begin()->first),
                 " is not supported");
  return name_results(scope, node, context.results(), first_new_value);
}

Result<void> convert_one_to_one(Scope& scope, const RawNode& node, const ir::OpDef& op) {
  ir::Attrs raw_attrs = TRY(to_attrs(node));
  ir::Attrs attrs = TRY(match_attrs(op, std::move(raw_attrs)));
  std::vector<ir::ValueId> inputs = TRY(find_inputs(scope, node));
  TRY(check_inputs(op, inputs));
  return append_node(scope, node, op, std::move(inputs), std::move(attrs));
}

Result<void> convert_node(Scope& scope, const RawNode& node) {
  if (--*scope.n_nodes_left < 0)
    return error(Code::kUnsupported, "the model has more nodes than are allowed");
  if (is_constant_node(node)) return convert_constant(scope, node);
  const ir::OnnxMatch match = ir::find_onnx(node.domain, node.op_type, node.opset);
  if (match.op == nullptr) return error(Code::kUnsupported, "the operator is not supported");
  if (is_control_node(node)) return convert_control(scope, node, *match.op);
  if (match.entry->import != nullptr) return convert_with_hook(scope, node, match);
  return convert_one_to_one(scope, node, *match.op);
}

/// The graph output's value under the output's name: what is an input, a constant or another output
/// gets a copy.
Result<ir::ValueId> output_value(Scope& scope, const std::string& name) {
  const auto id = scope.find(name);
  if (!id)
    return error(Code::kInvalidModel, "graph output ", in_quotes(name), ": nothing defines it");
  if (scope.graph.value(*id).name == name) return *id;
  ir::GraphBuilder builder(scope.graph, scope.graph.nodes, name);
  const ir::ValueId copy =
      TRY(builder.op("identity", {*id}).in(cat("graph output ", in_quotes(name))));
  scope.graph.value(copy).name = name;
  return copy;
}

Result<void> add_outputs(Scope& scope) {
  if (scope.raw.outputs.empty()) return error(Code::kInvalidModel, "the graph has no outputs");
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : scope.raw.outputs) {
    if (!seen.insert(name).second)
      return error(Code::kInvalidModel, "graph output ", in_quotes(name), " is there twice");
    scope.graph.outputs.push_back(TRY(output_value(scope, name)));
  }
  return {};
}

}  // namespace

Result<void> convert_nodes(Scope& scope) {
  TRY(check_definitions(scope.raw));
  const std::vector<size_t> order = TRY(sort_nodes(scope.raw, scope.outer == nullptr));
  for (const size_t index : order) {
    const RawNode& node = scope.raw.nodes[index];
    TRY(convert_node(scope, node).in(describe(node)));
  }
  return {};
}

Result<ir::Graph> convert_model(const RawModel& model, const ImportOptions& options) {
  TRY(check_support(model.graph));
  const std::vector<ir::TensorType> types = TRY(input_types(model.graph.inputs, options));
  int64_t nodes_left = options.max_nodes;
  Scope scope(model.graph, nullptr, &nodes_left);
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string& name = model.graph.inputs[i].name;
    ir::Value value;
    value.name = name;
    value.type = types[i];
    scope.names[name] = scope.graph.add_value(std::move(value));
    scope.graph.inputs.push_back(scope.names[name]);
  }
  TRY(convert_nodes(scope));
  TRY(add_outputs(scope));
  return std::move(scope.graph);
}

}  // namespace tw::onnx
