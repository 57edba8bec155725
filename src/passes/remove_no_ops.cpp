// remove_no_ops: nodes that give their input back: identity, casts to the same type, moves that
// move nothing.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

bool all_zero_pads(const ir::Graph& graph, const ir::Node& node) {
  const auto& pads = graph.value(node.inputs[1]).ints;
  if (!pads) return false;
  for (const Dim& pad : *pads)
    if (!(pad == Dim(0))) return false;
  return true;
}

bool is_no_op(const ir::Graph& graph, const ir::Node& node) {
  const std::string_view op = node.op->name;
  if (op == "identity") return true;
  if (op == "dropout") return node.outputs.size() == 1;
  if (node.inputs.empty() || node.inputs[0] == ir::kNoValue || node.outputs.size() != 1)
    return false;
  const ir::TensorType& in = graph.value(node.inputs[0]).type;
  const ir::TensorType& out = graph.value(node.outputs[0]).type;
  if (!(in == out)) return false;
  if (op == "cast" || op == "reshape" || op == "flatten" || op == "squeeze" || op == "unsqueeze" ||
      op == "expand" || op == "tile")
    return true;
  if (op == "concat" || op == "max" || op == "min" || op == "sum" || op == "mean")
    return node.inputs.size() == 1;
  if (op == "pad") return all_zero_pads(graph, node);
  if (op == "transpose") {
    const std::vector<int64_t> permutation = ir::NodeView(node).attr_ints("perm");
    for (size_t d = 0; d < permutation.size(); ++d)
      if (permutation[d] != static_cast<int64_t>(d)) return false;
    return !permutation.empty() || in.shape.size() < 2;
  }
  return false;
}

}  // namespace

Result<int> remove_no_ops(ir::Graph& graph) {
  return rewrite_nodes(graph,
                       [&](const ir::Node& node,
                           ir::GraphBuilder&) -> Result<std::optional<std::vector<ir::ValueId>>> {
                         if (!is_no_op(graph, node))
                           return std::optional<std::vector<ir::ValueId>>();
                         return std::optional(std::vector<ir::ValueId>{node.inputs[0]});
                       });
}

}  // namespace tw::passes
