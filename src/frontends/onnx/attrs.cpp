#include "frontends/onnx/attrs.h"

namespace tw::onnx {
namespace {

Error bad_attr(const std::string& name, std::string_view why) {
  return error(Code::kUnsupported, "attribute ", in_quotes(name), " ", why);
}

Result<ir::Attr> to_attr(const RawAttr& attr) {
  return std::visit(
      [&](const auto& value) -> Result<ir::Attr> {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return bad_attr(attr.name, "refers to a function's attribute, but stands in no function");
        else if constexpr (std::is_same_v<T, UnsupportedAttr>)
          return bad_attr(attr.name, cat("is of the unsupported kind ", value.kind));
        else if constexpr (std::is_same_v<T, std::shared_ptr<RawGraph>>)
          return bad_attr(attr.name, "is a subgraph, which this operator has none of");
        else
          return ir::Attr(value);
      },
      attr.value);
}

/// Names of the alternatives of ir::Attr.
std::string_view kind_of(const ir::Attr& attr) {
  constexpr std::string_view kKinds[] = {"an integer", "a float", "a string", "integers",
                                         "floats",     "strings", "a tensor", "a graph"};
  return kKinds[attr.index()];
}

/// Whether `attr` has the type of the default; no default leaves the type to the op.
Result<bool> equals_default(const std::string& name, const ir::Attr& attr,
                            const ir::AttrDefault& fallback) {
  if (std::holds_alternative<std::monostate>(fallback)) return false;
  if (fallback.index() != attr.index() + 1)
    return error(Code::kInvalidModel, "attribute ", in_quotes(name), " is ", kind_of(attr),
                 ", expected another type");
  if (const auto* integer = std::get_if<int64_t>(&fallback))
    return *integer == std::get<int64_t>(attr);
  if (const auto* real = std::get_if<double>(&fallback)) return *real == std::get<double>(attr);
  return std::get<std::string_view>(fallback) == std::get<std::string>(attr);
}

}  // namespace

Result<ir::Attrs> to_attrs(const RawNode& node) {
  ir::Attrs attrs;
  for (const RawAttr& attr : node.attrs) attrs.emplace(attr.name, TRY(to_attr(attr)));
  return attrs;
}

Result<ir::Attrs> match_attrs(const ir::OpDef& op, ir::Attrs attrs) {
  ir::Attrs kept;
  for (auto& [name, attr] : attrs) {
    const ir::AttrDef* declared = nullptr;
    for (const ir::AttrDef& def : op.attrs)
      if (def.name == name) declared = &def;
    if (declared == nullptr) return bad_attr(name, cat("is not supported by op ", op.name));
    const bool is_default = TRY(equals_default(name, attr, declared->fallback));
    if (!is_default) kept.emplace(name, std::move(attr));
  }
  return kept;
}

}  // namespace tw::onnx
