// fuse_elementwise: trees of elementwise nodes of one shape become one task; what lies between them
// never reaches memory.
#include <algorithm>
#include <set>

#include "passes/fuse_body.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

constexpr size_t kMaxInputs = 8;  // operands of an elementwise task
constexpr size_t kMaxNodes =
    20;  // keeps the registers of a program far below the 32 that there are

class Grower {
 public:
  explicit Grower(const ir::Graph& graph)
      : graph_(graph), around_(graph), taken_(graph.nodes.size(), false) {}

  /// The largest group that ends in node `root`, found by taking producers in while they fit.
  Group grow(size_t root) {
    std::set<size_t> members{root};
    std::vector<ir::ValueId> open = graph_.nodes[root].inputs;
    while (!open.empty()) {
      const ir::ValueId id = open.back();
      open.pop_back();
      const int producer = around_.producer_index(id);
      if (producer < 0 ||
          !joins(static_cast<size_t>(producer), graph_.nodes[root].outputs[0], members))
        continue;
      std::set<size_t> more = members;
      more.insert(static_cast<size_t>(producer));
      if (more.size() > kMaxNodes ||
          outside_inputs(graph_, Group(more.begin(), more.end())).size() > kMaxInputs)
        continue;
      members = std::move(more);
      const auto& inputs = graph_.nodes[static_cast<size_t>(producer)].inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
    Group group(members.begin(), members.end());
    for (const size_t member : group) taken_[member] = true;
    return group;
  }

  bool is_taken(size_t node) const { return taken_[node]; }

 private:
  /// All uses of the node's result are members, and its result has the group's shape.
  bool joins(size_t node, ir::ValueId result, const std::set<size_t>& members) const {
    const ir::ValueId id = graph_.nodes[node].outputs[0];
    if (taken_[node] || members.contains(node) || !is_pointwise(graph_.nodes[node]) ||
        !same_shape(graph_, id, result))
      return false;
    int inside = 0;
    for (const size_t member : members)
      inside += static_cast<int>(
          std::count(graph_.nodes[member].inputs.begin(), graph_.nodes[member].inputs.end(), id));
    return inside == around_.uses(id);
  }

  const ir::Graph& graph_;
  Neighbours around_;
  std::vector<bool> taken_;
};

}  // namespace

Result<int> fuse_elementwise(ir::Graph& graph) {
  Grower grower(graph);
  std::vector<Group> groups;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    if (!is_pointwise(graph.nodes[n]) || grower.is_taken(n)) continue;
    Group group = grower.grow(n);
    if (group.size() > 1) groups.push_back(std::move(group));
  }
  return replace_groups(graph, groups);
}

}  // namespace tw::passes
