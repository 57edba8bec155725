// lift_shapes: the shape of a value that has its input's shape is the shape of that input. Fusions
// count uses, and exporters ask for the shape of every projection before they cut it into heads.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

/// An input of the node that makes `id`, of equal shape; kNoValue when there is none.
ir::ValueId source_of(const ir::Graph& graph, const Neighbours& around, ir::ValueId id) {
  const ir::Node* node = around.producer(id);
  if (node == nullptr || is_control(*node)) return ir::kNoValue;
  for (const ir::ValueId input : node->inputs)
    if (input != ir::kNoValue && !graph.value(input).constant && same_shape(graph, input, id))
      return input;
  return ir::kNoValue;
}

}  // namespace

Result<int> lift_shapes(ir::Graph& graph) {
  const ir::Graph before = graph;
  const Neighbours around(before);
  return rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        std::optional<std::vector<ir::ValueId>> none;
        if (node.op->name != "shape" || static_cast<size_t>(node.inputs[0]) >= before.values.size())
          return none;
        ir::ValueId from = node.inputs[0];
        for (ir::ValueId next = from; next != ir::kNoValue; next = source_of(before, around, from))
          from = next;
        if (from == node.inputs[0]) return none;
        return std::optional(std::vector<ir::ValueId>{TRY(b.op("shape", {from}, node.attrs))});
      });
}

}  // namespace tw::passes
