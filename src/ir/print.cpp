#include "ir/print.h"

#include "ir/op_def.h"

namespace tw::ir {
namespace {

constexpr int64_t kMaxShown = 8;  // elements of a constant

/// FNV-1a, 64 bits: tells constants apart, no more.
uint64_t hash_of(const Tensor& tensor) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (int64_t i = 0; i < tensor.bytes(); ++i)
    hash = (hash ^ static_cast<uint64_t>(tensor.data()[i])) * 0x100000001b3U;
  return hash;
}

std::string contents(const Tensor& tensor) {
  if (tensor.count() > kMaxShown) return cat("#", hash_of(tensor));
  std::vector<std::string> elements;
  for (int64_t i = 0; i < tensor.count(); ++i)
    elements.push_back(is_float(tensor.dtype()) ? cat(tensor.float_at(i)) : cat(tensor.int_at(i)));
  return cat("{", join(elements, ", "), "}");
}

class Printer {
 public:
  Printer(const Graph& graph, std::string indent) : graph_(graph), indent_(std::move(indent)) {}

  std::string print() {
    line(cat("graph ", graph_.name));
    for (const ValueId id : graph_.inputs) line(cat("input ", typed(id)));
    for (const Node& node : graph_.nodes) {
      for (const ValueId id : node.inputs) show_constant(id);
      print_node(node);
    }
    for (const ValueId id : graph_.outputs) show_constant(id);
    for (const ValueId id : graph_.outputs) line(cat("output ", name(id)));
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += cat(indent_, text, "\n"); }
  std::string name(ValueId id) const { return id == kNoValue ? "-" : graph_.value(id).name; }
  std::string typed(ValueId id) const {
    return id == kNoValue ? "-" : cat(name(id), ": ", to_string(graph_.value(id).type));
  }

  /// At its first use.
  void show_constant(ValueId id) {
    if (id == kNoValue || !graph_.value(id).constant) return;
    shown_.resize(graph_.values.size(), false);
    if (shown_[static_cast<size_t>(id)]) return;
    shown_[static_cast<size_t>(id)] = true;
    line(cat("constant ", typed(id), " = ", contents(*graph_.value(id).constant)));
  }

  void print_node(const Node& node) {
    std::vector<std::string> inputs, outputs, attrs;
    for (const ValueId id : node.inputs) inputs.push_back(name(id));
    for (const ValueId id : node.outputs) outputs.push_back(typed(id));
    std::string bodies;
    for (const auto& [key, attr] : node.attrs) {
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attr))
        bodies += cat(indent_, "  ", key, ":\n", Printer(**body, indent_ + "    ").print());
      else
        attrs.push_back(cat(key, "=", std::visit([](const auto& v) { return text(v); }, attr)));
    }
    const std::string braces = attrs.empty() ? "" : cat(" {", join(attrs, " "), "}");
    line(cat(join(outputs, ", "), " = ", node.op->name, "(", join(inputs, ", "), ")", braces));
    text_ += bodies;
  }

  static std::string text(int64_t value) { return cat(value); }
  static std::string text(double value) { return cat(value); }
  static std::string text(const std::string& value) { return cat("\"", value, "\""); }
  static std::string text(const Tensor& value) { return cat(value.type_text(), contents(value)); }
  static std::string text(const std::shared_ptr<const Graph>&) { return {}; }  // stands below
  template <class T>
  static std::string text(const std::vector<T>& values) {
    return cat("[", join(values, ","), "]");
  }

  const Graph& graph_;
  std::string indent_;
  std::string text_;
  std::vector<bool> shown_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer(graph, "").print(); }

}  // namespace tw::ir
