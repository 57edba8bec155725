// decompose_unlowered: ops that have no lowering of their own become the ops that they are made of.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

constexpr int kMaxRounds = 16;  // decompositions into decompositions

/// Conv and its like lower with channels last only; everything else lowers when it has a hook.
bool lowers(const ir::Node& node) {
  if (is_control(node) || node.op->name == "fused" || node.op->pointwise != nullptr) return true;
  const ir::NodeView view(node);
  const bool channels_first = view.has_attr("layout") && view.attr_string("layout") == "nchw";
  return node.op->lower != nullptr && !channels_first;
}

}  // namespace

Result<int> decompose_unlowered(ir::Graph& graph) {
  int total = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    const int fired = TRY(rewrite_nodes(graph,
                                        [&](const ir::Node& node, ir::GraphBuilder& b)
                                            -> Result<std::optional<std::vector<ir::ValueId>>> {
                                          if (lowers(node) || node.op->decompose == nullptr)
                                            return std::optional<std::vector<ir::ValueId>>();
                                          ir::DecomposeContext context(node, b);
                                          TRY(node.op->decompose(context).in(node.op->name));
                                          return std::optional(context.results());
                                        }));
    if (fired == 0) return total;
    total += fired;
  }
  return error(Code::kInternal, "ops still decompose after ", kMaxRounds, " rounds");
}

}  // namespace tw::passes
