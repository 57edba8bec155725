// eliminate_common: nodes of equal op, inputs and attributes are one node. Every op is a function
// of its inputs.
#include <map>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

/// Text that is equal when the attributes are; nothing for tensors and graphs, which are not
/// compared.
std::optional<std::string> attr_text(const ir::Attr& attr) {
  return std::visit(
      [](const auto& value) -> std::optional<std::string> {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor> ||
                      std::is_same_v<T, std::shared_ptr<const ir::Graph>>)
          return std::nullopt;
        else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>)
          return cat(value);
        else if constexpr (std::is_same_v<T, std::string>)
          return cat("'", value, "'");
        else
          return cat("[", join(value, "|"), "]");
      },
      attr);
}

std::optional<std::string> key_of(const ir::Node& node) {
  std::string key = cat(node.op->name, "#", node.outputs.size());
  for (const ir::ValueId id : node.inputs) key += cat(",", static_cast<uint32_t>(id));
  for (const auto& [name, attr] : node.attrs) {
    const auto text = attr_text(attr);
    if (!text) return std::nullopt;
    key += cat(";", name, "=", *text);
  }
  return key;
}

}  // namespace

Result<int> eliminate_common(ir::Graph& graph) {
  std::map<std::string, std::vector<ir::ValueId>> seen;
  return rewrite_nodes(graph,
                       [&](const ir::Node& node,
                           ir::GraphBuilder&) -> Result<std::optional<std::vector<ir::ValueId>>> {
                         const auto key = key_of(node);
                         if (!key) return std::optional<std::vector<ir::ValueId>>();
                         const auto [it, inserted] = seen.try_emplace(*key, node.outputs);
                         if (inserted) return std::optional<std::vector<ir::ValueId>>();
                         return std::optional(it->second);
                       });
}

}  // namespace tw::passes
