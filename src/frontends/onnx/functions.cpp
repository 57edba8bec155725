#include "frontends/onnx/functions.h"

#include <algorithm>
#include <set>

namespace tw::onnx {
namespace {

using Names =
    std::map<std::string, std::string>;  // in the function's body -> in the caller's graph

/// Prefixes pile up where functions call functions; beyond this many characters they start anew.
constexpr size_t kLongestPrefix = 200;
/// Copies of names and attributes together; a small file could otherwise ask for any amount of
/// memory.
constexpr size_t kMaxExpansionBytes = size_t{1} << 28;

FunctionKey key_of(const RawNode& node) { return {node.domain, node.op_type, node.overload}; }

void collect_names(const std::vector<RawNode>& nodes, std::set<std::string>& names) {
  for (const RawNode& node : nodes) {
    names.insert(node.inputs.begin(), node.inputs.end());
    names.insert(node.outputs.begin(), node.outputs.end());
    for (const RawAttr& attr : node.attrs)
      if (const auto* body = std::get_if<std::shared_ptr<RawGraph>>(&attr.value)) {
        for (const auto& [name, _] : (*body)->initialisers) names.insert(name);
        for (const RawInput& input : (*body)->inputs) names.insert(input.name);
        collect_names((*body)->nodes, names);
      }
  }
}

size_t bytes_of(const RawAttr& attr) {
  size_t bytes = sizeof attr + attr.name.size();
  if (const auto* text = std::get_if<std::string>(&attr.value)) bytes += text->size();
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&attr.value)) bytes += ints->size() * 8;
  if (const auto* reals = std::get_if<std::vector<double>>(&attr.value)) bytes += reals->size() * 8;
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attr.value))
    for (const std::string& text : *texts) bytes += sizeof text + text.size();
  return bytes;
}

size_t bytes_of(const RawNode& node) {
  size_t bytes = sizeof node + node.name.size();
  for (const std::string& name : node.inputs) bytes += sizeof name + name.size();
  for (const std::string& name : node.outputs) bytes += sizeof name + name.size();
  for (const RawAttr& attr : node.attrs) bytes += bytes_of(attr);
  return bytes;
}

class Inliner {
 public:
  Inliner(RawModel& model, int64_t max_nodes) : model_(model), nodes_left_(max_nodes) {
    collect_names(model.graph.nodes, taken_);
    for (const auto& [name, _] : model.graph.initialisers) taken_.insert(name);
    for (const RawInput& input : model.graph.inputs) taken_.insert(input.name);
  }

  Result<void> graph(RawGraph& graph) {
    std::vector<RawNode> nodes;
    nodes.reserve(graph.nodes.size());
    for (RawNode& node : graph.nodes) TRY(emit(std::move(node), nodes));
    graph.nodes = std::move(nodes);
    return {};
  }

 private:
  Result<void> emit(RawNode node, std::vector<RawNode>& sink);
  Result<void> expand(const RawNode& call, const RawFunction& function, std::vector<RawNode>& sink);
  Result<Names> bind(const RawNode& call, const RawFunction& function, const std::string& prefix,
                     std::vector<RawNode>& sink);
  Result<RawNode> instance(const RawNode& body, const RawNode& call, const RawFunction& function,
                           Names& names, const std::string& prefix);
  Result<std::optional<RawAttr>> instance(const RawAttr& attr, const RawNode& call,
                                          const RawFunction& function, const Names& names,
                                          const std::string& prefix);
  Result<std::shared_ptr<RawGraph>> instance(const RawGraph& body, const RawNode& call,
                                             const RawFunction& function, Names names,
                                             const std::string& prefix);
  Result<void> spend_bytes(const RawNode& node);
  std::string fresh(const std::string& wanted);

  RawModel& model_;
  int64_t nodes_left_;
  size_t bytes_left_ = kMaxExpansionBytes;
  std::set<std::string> taken_;
  std::map<std::string, int>
      suffixes_;  // the last one tried for a name, so that many equal names stay cheap
  std::vector<FunctionKey> active_;  // the calls that we are inside of, outermost first
};

std::string Inliner::fresh(const std::string& wanted) {
  std::string name = wanted;
  while (!taken_.insert(name).second) name = cat(wanted, "_", ++suffixes_[wanted]);
  return name;
}

Error too_large() {
  return error(Code::kUnsupported, "the local functions expand to more nodes than are allowed");
}

Result<void> Inliner::spend_bytes(const RawNode& node) {
  const size_t bytes = bytes_of(node);
  if (bytes > bytes_left_) return too_large();
  bytes_left_ -= bytes;
  return {};
}

Result<void> Inliner::emit(RawNode node, std::vector<RawNode>& sink) {
  if (--nodes_left_ < 0) return too_large();
  const auto function = model_.functions.find(key_of(node));
  if (function != model_.functions.end()) return expand(node, function->second, sink);
  for (RawAttr& attr : node.attrs)
    if (auto* body = std::get_if<std::shared_ptr<RawGraph>>(&attr.value)) TRY(graph(**body));
  sink.push_back(std::move(node));
  return {};
}

Result<void> Inliner::expand(const RawNode& call, const RawFunction& function,
                             std::vector<RawNode>& sink) {
  const FunctionKey key = key_of(call);
  if (std::find(active_.begin(), active_.end(), key) != active_.end())
    return error(Code::kInvalidModel, describe(call), ": function ", in_quotes(call.op_type),
                 " calls itself");
  if (active_.size() >= static_cast<size_t>(kMaxNesting))
    return error(Code::kUnsupported, describe(call), ": functions call each other deeper than ",
                 kMaxNesting);
  active_.push_back(key);
  const bool too_long = call.name.size() > kLongestPrefix;
  const std::string prefix = fresh(too_long ? call.op_type.substr(0, kLongestPrefix) : call.name);
  std::vector<RawNode> aliases;
  Names names = TRY(bind(call, function, prefix, aliases));
  for (const RawNode& body : function.nodes) {
    RawNode node = TRY(instance(body, call, function, names, prefix).in(describe(call)));
    TRY(emit(std::move(node), sink));
  }
  for (RawNode& alias : aliases) sink.push_back(std::move(alias));
  active_.pop_back();
  return {};
}

/// The caller's names of the function's inputs and outputs. An output that is an input too needs a
/// copying node.
Result<Names> Inliner::bind(const RawNode& call, const RawFunction& function,
                            const std::string& prefix, std::vector<RawNode>& aliases) {
  if (call.inputs.size() > function.inputs.size() || call.outputs.size() > function.outputs.size())
    return error(Code::kInvalidModel, describe(call), ": ", call.inputs.size(), " inputs and ",
                 call.outputs.size(), " outputs, but the function has ", function.inputs.size(),
                 " and ", function.outputs.size());
  Names names{{"", ""}};
  for (size_t i = 0; i < function.inputs.size(); ++i)
    if (!function.inputs[i].empty())
      names[function.inputs[i]] = i < call.inputs.size() ? call.inputs[i] : "";
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const std::string& inner = function.outputs[i];
    if (i >= call.outputs.size() || call.outputs[i].empty()) continue;
    const auto [known, is_new] = names.emplace(inner, call.outputs[i]);
    if (is_new) continue;
    RawNode alias;
    alias.op_type = "Identity";
    alias.name = cat(prefix, "/", "output_", i);
    alias.opset = kOldestOpset;
    alias.inputs = {known->second};
    alias.outputs = {call.outputs[i]};
    aliases.push_back(std::move(alias));
  }
  // All at once, since a subgraph may stand before the node whose output it reads.
  for (const RawNode& node : function.nodes)
    for (const std::string& name : node.outputs)
      if (!names.contains(name)) names.emplace(name, fresh(cat(prefix, "/", name)));
  return names;
}

/// A node of the body as it stands in the caller's graph. Names that the body makes are new in the
/// whole model.
Result<RawNode> Inliner::instance(const RawNode& body, const RawNode& call,
                                  const RawFunction& function, Names& names,
                                  const std::string& prefix) {
  TRY(spend_bytes(body));
  RawNode node = body;
  node.attrs.clear();
  node.name = cat(prefix, "/", body.name);
  const auto rename = [&](std::string& name) {
    const auto known = names.find(name);
    name = known != names.end() ? known->second : (names[name] = fresh(cat(prefix, "/", name)));
  };
  for (std::string& name : node.inputs) rename(name);
  for (std::string& name : node.outputs) rename(name);
  for (const RawAttr& attr : body.attrs) {
    auto value = TRY(instance(attr, call, function, names, prefix));
    if (value) node.attrs.push_back(std::move(*value));
  }
  TRY(spend_bytes(node));
  return node;
}

/// The attribute with a reference replaced by the call's value, else the function's default;
/// nothing when neither is.
Result<std::optional<RawAttr>> Inliner::instance(const RawAttr& attr, const RawNode& call,
                                                 const RawFunction& function, const Names& names,
                                                 const std::string& prefix) {
  if (!attr.reference.empty()) {
    const RawAttr* value = find_attr(call, attr.reference);
    for (const RawAttr& fallback : function.defaults)
      if (value == nullptr && fallback.name == attr.reference) value = &fallback;
    if (value == nullptr) return std::optional<RawAttr>();
    RawAttr result = *value;
    result.name = attr.name;
    return std::optional(std::move(result));
  }
  RawAttr result = attr;
  if (const auto* body = std::get_if<std::shared_ptr<RawGraph>>(&attr.value))
    result.value = TRY(instance(**body, call, function, names, prefix));
  return std::optional(std::move(result));
}

Result<std::shared_ptr<RawGraph>> Inliner::instance(const RawGraph& body, const RawNode& call,
                                                    const RawFunction& function, Names names,
                                                    const std::string& prefix) {
  auto result = std::make_shared<RawGraph>();
  result->name = body.name;
  const auto define = [&](const std::string& name) {
    return name.empty() ? name : names[name] = fresh(cat(prefix, "/", name));
  };
  for (const auto& [name, tensor] : body.initialisers)
    result->initialisers.emplace(define(name), tensor);
  for (const RawInput& input : body.inputs) {
    result->inputs.push_back(input);
    result->inputs.back().name = define(input.name);
  }
  for (const RawNode& node : body.nodes)
    for (const std::string& name : node.outputs) define(name);
  for (const RawNode& node : body.nodes)
    result->nodes.push_back(TRY(instance(node, call, function, names, prefix)));
  for (const std::string& name : body.outputs) {
    const auto known = names.find(name);
    result->outputs.push_back(known != names.end() ? known->second : name);
  }
  return result;
}

}  // namespace

Result<void> inline_functions(RawModel& model, int64_t max_nodes) {
  return Inliner(model, max_nodes).graph(model.graph);
}

}  // namespace tw::onnx
