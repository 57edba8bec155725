#include "ir/infer.h"

#include "ir/contexts.h"
#include "ir/op_def.h"

namespace tw::ir {
namespace {

bool is_optional(std::string_view mark) { return mark.ends_with('?'); }
bool is_variadic(std::string_view mark) { return mark.ends_with("..."); }

/// Present inputs and outputs where the op has required ones, no more than it has.
template <class List>
Result<void> check_arity(const List& declared, const std::vector<ValueId>& given,
                         std::string_view what) {
  const bool variadic = !declared.empty() && is_variadic(declared.back());
  if (given.size() > declared.size() && !variadic)
    return error(Code::kInvalidModel, given.size(), " ", what, "s, expected at most ",
                 declared.size());
  for (size_t i = 0; i < declared.size(); ++i) {
    if (is_optional(declared[i]) || is_variadic(declared[i])) continue;
    if (i >= given.size() || given[i] == kNoValue)
      return error(Code::kInvalidModel, what, " '", declared[i], "' is missing");
  }
  return {};
}

Result<void> check_attrs(const Node& node) {
  for (const auto& [name, value] : node.attrs) {
    bool declared = false;
    for (const AttrDef& def : node.op->attrs) declared = declared || def.name == name;
    if (!declared) return error(Code::kUnsupported, "attribute '", name, "' is not known");
  }
  return {};
}

Result<std::vector<Value>> infer_values(const Node& node, std::vector<const Value*> inputs,
                                        int* n_fresh_symbols) {
  TRY(check_arity(node.op->inputs, node.inputs, "input"));
  TRY(check_arity(node.op->outputs, node.outputs, "output"));
  TRY(check_attrs(node));
  InferContext context(node, std::move(inputs), n_fresh_symbols);
  TRY(node.op->infer(context));
  for (size_t i = 0; i < context.outputs().size(); ++i)
    if (context.outputs()[i].type.shape.size() > kMaxRank)
      return error(Code::kUnsupported, "output ", i, " has rank ",
                   context.outputs()[i].type.shape.size(), ", at most ", kMaxRank, " is supported");
  return context.outputs();
}

std::string place(const Node& node) { return cat("node '", node.name, "' (", node.op->name, ")"); }

}  // namespace

Result<void> infer_node(Graph& graph, const Node& node) {
  std::vector<const Value*> inputs;
  for (const ValueId id : node.inputs)
    inputs.push_back(id == kNoValue ? nullptr : &graph.value(id));
  const std::vector<Value> outputs =
      TRY(infer_values(node, std::move(inputs), &graph.n_fresh_symbols).in(place(node)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& value = graph.value(node.outputs[i]);
    value.type = outputs[i].type;
    value.ints = outputs[i].ints;
  }
  return {};
}

Result<void> infer_graph(Graph& graph) {
  for (const Node& node : graph.nodes) TRY(infer_node(graph, node));
  return {};
}

Result<std::vector<Value>> infer_outputs(const Graph& graph, const std::vector<Value>& inputs,
                                         int* n_fresh_symbols) {
  if (inputs.size() != graph.inputs.size())
    return error(Code::kInvalidModel, "graph '", graph.name, "' takes ", graph.inputs.size(),
                 " inputs, found ", inputs.size());
  Graph copy = graph;
  copy.n_fresh_symbols = *n_fresh_symbols;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value& value = copy.value(copy.inputs[i]);
    value.type = inputs[i].type;
    value.ints = inputs[i].ints;
    value.constant = inputs[i].constant;
  }
  TRY(infer_graph(copy));
  *n_fresh_symbols = copy.n_fresh_symbols;
  std::vector<Value> outputs;
  for (const ValueId id : copy.outputs) outputs.push_back(copy.value(id));
  return outputs;
}

}  // namespace tw::ir
