#include "frontends/onnx/names.h"

#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace tw::onnx {
namespace {

using Producers = std::unordered_map<std::string_view, size_t>;

Producers producers_of(const RawGraph& graph) {
  Producers producers;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const std::string& name : graph.nodes[n].outputs)
      if (!name.empty()) producers.emplace(name, n);
  return producers;
}

std::unordered_set<std::string_view> definitions(const RawGraph& graph) {
  std::unordered_set<std::string_view> names;
  for (const RawInput& input : graph.inputs) names.insert(input.name);
  for (const auto& [name, _] : graph.initialisers) names.insert(name);
  for (const RawNode& node : graph.nodes)
    for (const std::string& name : node.outputs) names.insert(name);
  return names;
}

/// "'a' -> 'b' -> 'a'": nodes that wait for each other, starting from any node that could not be
/// placed.
std::string describe_cycle(const RawGraph& graph, const std::vector<std::vector<size_t>>& needs,
                           const std::vector<bool>& placed) {
  size_t at = 0;
  while (placed[at]) ++at;
  std::vector<size_t> path;
  std::vector<bool> seen(graph.nodes.size(), false);
  while (!seen[at]) {  // every node that is left needs another one that is left
    seen[at] = true;
    path.push_back(at);
    for (const size_t need : needs[at])
      if (!placed[need]) {
        at = need;
        break;
      }
  }
  constexpr size_t kLongest = 8;
  std::string text = in_quotes(graph.nodes[at].name);
  size_t length = 0;
  for (auto node = path.rbegin(); node != path.rend(); ++node) {
    if (++length <= kLongest) text += cat(" -> ", in_quotes(graph.nodes[*node].name));
    if (*node == at) break;
  }
  if (length > kLongest) text += cat(" -> ... (", length, " nodes in all)");
  return text;
}

}  // namespace

std::vector<std::string> names_read(const RawNode& node) {
  std::vector<std::string> names;
  for (const std::string& name : node.inputs)
    if (!name.empty()) names.push_back(name);
  for (const RawAttr& attr : node.attrs)
    if (const auto* body = std::get_if<std::shared_ptr<RawGraph>>(&attr.value)) {
      const std::vector<std::string> outer = free_names(**body);
      names.insert(names.end(), outer.begin(), outer.end());
    }
  return names;
}

std::vector<std::string> free_names(const RawGraph& graph) {
  const auto defined = definitions(graph);
  std::unordered_set<std::string> seen;
  std::vector<std::string> free;
  const auto use = [&](const std::string& name) {
    if (!defined.contains(name) && seen.insert(name).second) free.push_back(name);
  };
  for (const RawNode& node : graph.nodes)
    for (const std::string& name : names_read(node)) use(name);
  for (const std::string& name : graph.outputs) use(name);
  return free;
}

Result<void> check_definitions(const RawGraph& graph) {
  std::unordered_set<std::string_view> defined;
  for (const auto& [name, _] : graph.initialisers) defined.insert(name);
  for (const RawInput& input : graph.inputs) {
    if (input.name.empty()) return error(Code::kInvalidModel, "a graph input has no name");
    if (!defined.insert(input.name).second)
      return error(Code::kInvalidModel, "graph input ", in_quotes(input.name), " is defined twice");
  }
  for (const RawNode& node : graph.nodes)
    for (const std::string& name : node.outputs)
      if (!name.empty() && !defined.insert(name).second)
        return error(Code::kInvalidModel, describe(node), ": output ", in_quotes(name),
                     " is defined twice");
  return {};
}

Result<std::vector<size_t>> sort_nodes(const RawGraph& graph, bool is_closed) {
  const size_t n_nodes = graph.nodes.size();
  const Producers producers = producers_of(graph);
  const auto defined = definitions(graph);
  std::vector<std::vector<size_t>> needs(n_nodes);
  std::vector<std::vector<size_t>> needed_by(n_nodes);
  for (size_t n = 0; n < n_nodes; ++n)
    for (const std::string& name : names_read(graph.nodes[n])) {
      if (is_closed && !defined.contains(name))
        return error(Code::kInvalidModel, describe(graph.nodes[n]), ": nothing defines its input ",
                     in_quotes(name));
      const auto producer = producers.find(name);
      if (producer == producers.end()) continue;
      needs[n].push_back(producer->second);
      needed_by[producer->second].push_back(n);
    }

  std::vector<size_t> waits(n_nodes);
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < n_nodes; ++n) {
    waits[n] = needs[n].size();
    if (waits[n] == 0) ready.push(n);
  }
  std::vector<size_t> order;
  std::vector<bool> placed(n_nodes, false);
  while (!ready.empty()) {
    const size_t node = ready.top();
    ready.pop();
    placed[node] = true;
    order.push_back(node);
    for (const size_t user : needed_by[node])
      if (--waits[user] == 0) ready.push(user);
  }
  if (order.size() < n_nodes)
    return error(Code::kInvalidModel,
                 "the nodes form a cycle: ", describe_cycle(graph, needs, placed));
  return order;
}

}  // namespace tw::onnx
