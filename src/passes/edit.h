// edit.h: what passes share: looking around a graph and replacing nodes while its order stays
// right.
#pragma once

#include <functional>
#include <optional>

#include "ir/contexts.h"
#include "ir/op_def.h"

namespace tw::passes {

/// A snapshot of who makes and uses each value; stale after an edit.
class Neighbours {
 public:
  explicit Neighbours(const ir::Graph& graph);
  /// The node that makes `id`, when its op has this name; null otherwise.
  const ir::Node* producer(ir::ValueId id, std::string_view op) const;
  const ir::Node* producer(ir::ValueId id) const;
  int producer_index(ir::ValueId id) const {
    return id == ir::kNoValue ? -1 : made_by_[static_cast<size_t>(id)];
  }
  int uses(ir::ValueId id) const { return uses_[static_cast<size_t>(id)]; }
  /// Used once in all, by a node and not as an output of the graph.
  bool single_use(ir::ValueId id) const { return uses(id) == 1; }

 private:
  const ir::Graph& graph_;
  std::vector<int> made_by_;
  std::vector<int> uses_;
};

/// The value of a constant of one element, as a double.
std::optional<double> scalar_constant(const ir::Graph& graph, ir::ValueId id);
/// `a op b` where one side is a constant of one element: the other side and the number.
/// `constant_side` 0 or 1.
struct WithScalar {
  ir::ValueId value = ir::kNoValue;
  double number = 0;
  int constant_side = 1;
};
std::optional<WithScalar> with_scalar(const ir::Graph& graph, const ir::Node& node);

/// Calls `rewrite(node, builder)` for each node in order. When it gives values, they stand for the
/// node's outputs from there on and the nodes that the builder made take its place; nothing: the
/// node stays. Returns how many nodes were replaced.
Result<int> rewrite_nodes(ir::Graph& graph,
                          const std::function<Result<std::optional<std::vector<ir::ValueId>>>(
                              const ir::Node&, ir::GraphBuilder&)>& rewrite);

/// Removes nodes none of whose outputs is used, again and again. Returns how many.
int remove_dead_nodes(ir::Graph& graph);

/// Elementwise: has instructions for one element and one output.
bool is_pointwise(const ir::Node& node);
bool is_control(const ir::Node& node);
bool same_shape(const ir::Graph& graph, ir::ValueId a, ir::ValueId b);

}  // namespace tw::passes
