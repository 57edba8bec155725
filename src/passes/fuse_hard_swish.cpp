// fuse_hard_swish: x * clip(x + 3, 0, 6) / 6 in the orders that exporters write, and x *
// hard_sigmoid(x), become hard_swish; x * sigmoid(x) becomes silu.
#include <cmath>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

bool near(double a, double b) { return std::fabs(a - b) <= 1e-6 * std::fabs(b); }

/// x when `id` is clip(x + 3, 0, 6).
std::optional<ir::ValueId> clipped(const ir::Graph& graph, const Neighbours& around,
                                   ir::ValueId id) {
  const ir::Node* clip = around.producer(id, "clip");
  if (clip == nullptr || clip->inputs.size() < 3) return std::nullopt;
  const auto low = scalar_constant(graph, clip->inputs[1]),
             high = scalar_constant(graph, clip->inputs[2]);
  if (!low || !high || *low != 0 || *high != 6) return std::nullopt;
  const ir::Node* sum = around.producer(clip->inputs[0], "add");
  const auto parts = sum == nullptr ? std::nullopt : with_scalar(graph, *sum);
  return parts && parts->number == 3 ? std::optional(parts->value) : std::nullopt;
}

/// The value that is divided by six.
std::optional<ir::ValueId> sixth_of(const ir::Graph& graph, const ir::Node* node) {
  if (node == nullptr) return std::nullopt;
  const auto parts = with_scalar(graph, *node);
  if (!parts) return std::nullopt;
  const bool divided = node->op->name == "div" && parts->constant_side == 1 && parts->number == 6;
  const bool multiplied = node->op->name == "mul" && near(parts->number, 1.0 / 6);
  return divided || multiplied ? std::optional(parts->value) : std::nullopt;
}

std::optional<ir::ValueId> hard_swish_input(const ir::Graph& graph, const Neighbours& around,
                                            const ir::Node& node) {
  // (x * clip(x + 3, 0, 6)) / 6
  if (const auto product = sixth_of(graph, &node)) {
    const ir::Node* mul = around.producer(*product, "mul");
    for (size_t side = 0; mul != nullptr && side < 2; ++side)
      if (const auto x = clipped(graph, around, mul->inputs[side]);
          x && *x == mul->inputs[1 - side])
        return x;
  }
  if (node.op->name != "mul") return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    // x * (clip(x + 3, 0, 6) / 6)
    if (const auto part = sixth_of(graph, around.producer(node.inputs[side])))
      if (const auto x = clipped(graph, around, *part); x && *x == node.inputs[1 - side]) return x;
    const ir::Node* gate = around.producer(node.inputs[side], "hard_sigmoid");
    if (gate == nullptr || gate->inputs[0] != node.inputs[1 - side]) continue;
    const ir::NodeView view(*gate);
    if (near(view.attr_float("alpha"), 1.0 / 6) && view.attr_float("beta") == 0.5)
      return gate->inputs[0];
  }
  return std::nullopt;
}

std::optional<ir::ValueId> silu_input(const Neighbours& around, const ir::Node& node) {
  for (size_t side = 0; node.op->name == "mul" && side < 2; ++side) {
    const ir::Node* gate = around.producer(node.inputs[side], "sigmoid");
    if (gate != nullptr && gate->inputs[0] == node.inputs[1 - side]) return gate->inputs[0];
  }
  return std::nullopt;
}

}  // namespace

Result<int> fuse_hard_swish(ir::Graph& graph) {
  const ir::Graph before = graph;
  const Neighbours around(before);
  const int fired = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        const auto none = std::optional<std::vector<ir::ValueId>>();
        if (node.op->name != "mul" && node.op->name != "div") return none;
        const ir::Node& original =
            before.nodes[static_cast<size_t>(around.producer_index(node.outputs[0]))];
        if (const auto x = hard_swish_input(before, around, original))
          return std::optional(std::vector<ir::ValueId>{TRY(b.op("hard_swish", {*x}))});
        if (const auto x = silu_input(around, original))
          return std::optional(std::vector<ir::ValueId>{TRY(b.op("silu", {*x}))});
        return none;
      }));
  remove_dead_nodes(graph);
  return fired;
}

}  // namespace tw::passes
