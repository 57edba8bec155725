// fuse_linear: MatMul by a matrix of weights, and the Add of a bias behind it, become one linear.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

bool is_bias(const ir::Graph& graph, ir::ValueId id, const Dim& columns) {
  const ir::Value& value = graph.value(id);
  return value.constant && value.type.shape.size() == 1 && value.type.shape[0] == columns;
}

}  // namespace

Result<int> fuse_linear(ir::Graph& graph) {
  // matmul -> linear first, then linear + add -> linear with bias: each step keeps the graph legal.
  const int products = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        if (node.op->name != "matmul") return std::optional<std::vector<ir::ValueId>>();
        const ir::Value& x = graph.value(node.inputs[0]);
        const ir::Value& w = graph.value(node.inputs[1]);
        if (!w.constant || w.type.shape.size() != 2 || x.type.shape.size() < 2 ||
            !is_float(x.type.dtype) || x.type.dtype == DType::kF64)
          return std::optional<std::vector<ir::ValueId>>();
        return std::optional(
            std::vector<ir::ValueId>{TRY(b.op("linear", {node.inputs[0], node.inputs[1]}))});
      }));
  const Neighbours around(graph);
  const std::vector<ir::Node> nodes = graph.nodes;
  const std::vector<int> made_by = ir::producers(graph);
  const int biases = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        if (node.op->name != "add") return std::optional<std::vector<ir::ValueId>>();
        for (const size_t side : {size_t{0}, size_t{1}}) {
          const ir::ValueId product = node.inputs[side], bias = node.inputs[1 - side];
          if (static_cast<size_t>(product) >= made_by.size() ||
              made_by[static_cast<size_t>(product)] < 0)
            continue;
          const ir::Node& linear =
              nodes[static_cast<size_t>(made_by[static_cast<size_t>(product)])];
          if (linear.op->name != "linear" || linear.inputs.size() != 2 || around.uses(product) != 1)
            continue;
          if (!is_bias(graph, bias, graph.value(product).type.shape.back())) continue;
          return std::optional(std::vector<ir::ValueId>{
              TRY(b.op("linear", {linear.inputs[0], linear.inputs[1], bias}))});
        }
        return std::optional<std::vector<ir::ValueId>>();
      }));
  remove_dead_nodes(graph);
  return products + biases;
}

}  // namespace tw::passes
