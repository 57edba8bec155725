// merge_transposes: a transpose of a transpose is one transpose, or none.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

std::vector<int64_t> permutation_of(const ir::Node& node, size_t rank) {
  std::vector<int64_t> permutation = ir::NodeView(node).attr_ints("perm");
  if (permutation.empty())
    for (size_t d = rank; d-- > 0;) permutation.push_back(static_cast<int64_t>(d));
  return permutation;
}

}  // namespace

Result<int> merge_transposes(ir::Graph& graph) {
  const std::vector<ir::Node> nodes =
      graph.nodes;  // producers by value, while rewrite_nodes takes the graph's own list apart
  const std::vector<int> made_by = ir::producers(graph);
  return rewrite_nodes(graph,
                       [&](const ir::Node& node,
                           ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
                         if (node.op->name != "transpose")
                           return std::optional<std::vector<ir::ValueId>>();
                         const auto id = static_cast<size_t>(node.inputs[0]);
                         if (id >= made_by.size() || made_by[id] < 0 ||
                             nodes[static_cast<size_t>(made_by[id])].op->name != "transpose")
                           return std::optional<std::vector<ir::ValueId>>();
                         const ir::Node& first = nodes[static_cast<size_t>(made_by[id])];
                         const size_t rank = graph.value(node.outputs[0]).type.shape.size();
                         const std::vector<int64_t> inner = permutation_of(first, rank),
                                                    outer = permutation_of(node, rank);
                         std::vector<int64_t> both;
                         bool moves = false;
                         for (size_t d = 0; d < rank; ++d) {
                           both.push_back(inner[static_cast<size_t>(outer[d])]);
                           moves = moves || both[d] != static_cast<int64_t>(d);
                         }
                         const ir::ValueId source = first.inputs[0];
                         if (!moves) return std::optional(std::vector<ir::ValueId>{source});
                         return std::optional(std::vector<ir::ValueId>{
                             TRY(b.op("transpose", {source}, {{"perm", both}}))});
                       });
}

}  // namespace tw::passes
