#include "frontends/onnx/support.h"

#include "ir/op_def.h"

namespace tw::onnx {
namespace {

struct Missing {
  int64_t count = 0;
  std::string first_node;
};
using Operator = std::tuple<std::string, std::string, int>;  // domain, type, opset

Result<void> collect(const RawGraph& graph, std::map<Operator, Missing>& missing) {
  for (const RawNode& node : graph.nodes) {
    if (node.domain.empty() && node.opset == 0)
      return error(Code::kInvalidModel, describe(node),
                   ": no opset of ai.onnx is imported where it stands");
    if (!is_constant_node(node) &&
        ir::find_onnx(node.domain, node.op_type, node.opset).op == nullptr) {
      Missing& entry = missing[{node.domain, node.op_type, node.opset}];
      if (entry.count++ == 0) entry.first_node = node.name;
    }
    for (const RawAttr& attr : node.attrs)
      if (const auto* body = std::get_if<std::shared_ptr<RawGraph>>(&attr.value))
        TRY(collect(**body, missing));
  }
  return {};
}

std::string sentence(const Operator& op, const Missing& missing) {
  const auto& [domain, type, opset] = op;
  std::string text =
      cat(printable(type), " (", domain_name(domain), " ",
          opset == 0 ? "without opset" : cat(opset), ", ", missing.count,
          missing.count == 1 ? " node" : " nodes", ", first ", in_quotes(missing.first_node));
  if (ir::find_onnx(domain, type, kNewestOpset).op != nullptr)
    text += "; only its newer forms are supported";
  return text + ")";
}

}  // namespace

bool is_constant_node(const RawNode& node) {
  return node.domain.empty() && node.op_type == "Constant";
}

Result<void> check_support(const RawGraph& graph) {
  std::map<Operator, Missing> missing;
  TRY(collect(graph, missing));
  if (missing.empty()) return {};
  constexpr size_t kMostListed = 60;
  std::vector<std::string> sentences;
  for (const auto& [op, entry] : missing) {
    if (sentences.size() == kMostListed) {
      sentences.push_back(cat(missing.size() - kMostListed, " more"));
      break;
    }
    sentences.push_back(sentence(op, entry));
  }
  return error(Code::kUnsupported, missing.size(), " of the model's operators ",
               missing.size() == 1 ? "is" : "are", " not supported: ", join(sentences, ", "));
}

}  // namespace tw::onnx
