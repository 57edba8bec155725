// fuse_gelu: x * 0.5 * (1 + erf(x / sqrt(2))), in any order of its products, becomes gelu.
#include <cmath>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

bool near(double a, double b) { return std::fabs(a - b) <= 1e-5 * std::fabs(b); }

/// x when `id` is x / sqrt(2) or x * sqrt(1/2).
std::optional<ir::ValueId> scaled_input(const ir::Graph& graph, const Neighbours& around,
                                        ir::ValueId id) {
  const ir::Node* node = around.producer(id);
  if (node == nullptr) return std::nullopt;
  const auto parts = with_scalar(graph, *node);
  if (!parts) return std::nullopt;
  const bool divided =
      node->op->name == "div" && parts->constant_side == 1 && near(parts->number, std::sqrt(2.0));
  const bool multiplied = node->op->name == "mul" && near(parts->number, std::sqrt(0.5));
  return divided || multiplied ? std::optional(parts->value) : std::nullopt;
}

/// x when `id` is 1 + erf(x / sqrt(2)).
std::optional<ir::ValueId> erf_input(const ir::Graph& graph, const Neighbours& around,
                                     ir::ValueId id) {
  const ir::Node* sum = around.producer(id, "add");
  const auto parts = sum == nullptr ? std::nullopt : with_scalar(graph, *sum);
  if (!parts || parts->number != 1) return std::nullopt;
  const ir::Node* erf = around.producer(parts->value, "erf");
  return erf == nullptr ? std::nullopt : scaled_input(graph, around, erf->inputs[0]);
}

/// The factors of a product of up to three, `number` collecting the constants.
void collect(const ir::Graph& graph, const Neighbours& around, ir::ValueId id, int depth,
             std::vector<ir::ValueId>& factors, double& number) {
  const ir::Node* node = around.producer(id, "mul");
  if (node == nullptr || depth == 0) {
    factors.push_back(id);
    return;
  }
  for (const ir::ValueId input : node->inputs) {
    if (const auto constant = scalar_constant(graph, input))
      number *= *constant;
    else
      collect(graph, around, input, depth - 1, factors, number);
  }
}

}  // namespace

Result<int> fuse_gelu(ir::Graph& graph) {
  const ir::Graph before = graph;
  const Neighbours around(before);
  const int fired = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        const auto none = std::optional<std::vector<ir::ValueId>>();
        if (node.op->name != "mul" || static_cast<size_t>(node.outputs[0]) >= before.values.size())
          return none;
        std::vector<ir::ValueId> factors;
        double number = 1;
        collect(before, around, node.outputs[0], 2, factors, number);
        if (factors.size() != 2 || !near(number, 0.5)) return none;
        for (const size_t side : {size_t{0}, size_t{1}}) {
          const auto x = erf_input(before, around, factors[side]);
          if (x && *x == factors[1 - side])
            return std::optional(std::vector<ir::ValueId>{TRY(b.op("gelu", {*x}))});
        }
        return none;
      }));
  remove_dead_nodes(graph);
  return fired;
}

}  // namespace tw::passes
