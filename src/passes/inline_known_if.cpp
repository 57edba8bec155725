// inline_known_if: an If whose condition is known is the branch that it takes.
#include <map>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

std::optional<bool> condition(const ir::Graph& graph, const ir::Node& node) {
  const ir::Value& value = graph.value(node.inputs[0]);
  if (value.constant && value.constant->count() == 1) return value.constant->int_at(0) != 0;
  if (value.ints && value.ints->size() == 1 && value.ints->front().is_constant())
    return value.ints->front().constant() != 0;
  return std::nullopt;
}

}  // namespace

Result<int> inline_known_if(ir::Graph& graph) {
  return rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        const auto none = std::optional<std::vector<ir::ValueId>>();
        if (node.op->name != "if") return none;
        const auto taken = condition(graph, node);
        const ir::NodeView view(node);
        if (!taken || !view.attr_string(*taken ? "then_refusal" : "else_refusal").empty())
          return none;
        const ir::Graph& body = view.attr_graph(*taken ? "then_branch" : "else_branch");
        std::map<ir::ValueId, ir::ValueId> outer;
        for (size_t i = 0; i < body.inputs.size(); ++i) outer[body.inputs[i]] = node.inputs[i + 1];
        const auto resolve = [&](ir::ValueId id) {
          if (id != ir::kNoValue && !outer.contains(id))
            outer[id] = b.constant(*body.value(id).constant);
          return id == ir::kNoValue ? id : outer.at(id);
        };
        for (const ir::Node& inner : body.nodes) {
          std::vector<ir::ValueId> inputs;
          for (const ir::ValueId id : inner.inputs) inputs.push_back(resolve(id));
          const std::vector<ir::ValueId> made =
              TRY(b.ops(inner.op->name, std::move(inputs), inner.attrs, inner.outputs.size())
                      .in(inner.name));
          for (size_t i = 0; i < made.size(); ++i)
            if (inner.outputs[i] != ir::kNoValue) outer[inner.outputs[i]] = made[i];
        }
        std::vector<ir::ValueId> results;
        for (size_t i = 0; i < node.outputs.size(); ++i)
          results.push_back(resolve(body.outputs[i]));
        return std::optional(std::move(results));
      });
}

}  // namespace tw::passes
