#include "ir/verify.h"

#include "ir/op_def.h"

namespace tw::ir {

Result<void> verify(const Graph& graph) {
  std::vector<bool> there(graph.values.size(), false);
  const auto place = [&](const Node& node) {
    return cat("node '", node.name, "' (", node.op == nullptr ? "no op" : node.op->name, ")");
  };
  const auto make = [&](ValueId id) -> Result<void> {
    const auto i = static_cast<size_t>(id);
    if (i >= there.size()) return error(Code::kInternal, "value ", i, " of ", there.size());
    if (there[i]) return error(Code::kInternal, "value '", graph.values[i].name, "' is made twice");
    there[i] = true;
    return {};
  };
  for (const ValueId id : graph.inputs) TRY(make(id).in("inputs"));
  for (size_t i = 0; i < there.size(); ++i)
    if (graph.values[i].constant) there[i] = true;
  for (const Node& node : graph.nodes) {
    if (node.op == nullptr) return error(Code::kInternal, place(node), " is of no op");
    for (const ValueId id : node.inputs)
      if (id != kNoValue &&
          (static_cast<size_t>(id) >= there.size() || !there[static_cast<size_t>(id)]))
        return error(Code::kInternal, place(node), ": reads value ", static_cast<uint32_t>(id),
                     ", which nothing makes before it");
    for (const ValueId id : node.outputs)
      if (id != kNoValue) TRY(make(id).in(place(node)));
  }
  for (const ValueId id : graph.outputs)
    if (static_cast<size_t>(id) >= there.size() || !there[static_cast<size_t>(id)])
      return error(Code::kInternal, "output ", static_cast<uint32_t>(id), " is made by nothing");
  return {};
}

}  // namespace tw::ir
