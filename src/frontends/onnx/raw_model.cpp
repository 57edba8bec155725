#include "frontends/onnx/raw_model.h"

#include "base/cat.h"

namespace tw::onnx {

std::string printable(std::string_view text) {
  constexpr size_t kLongest = 160;
  constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return text.size() > kLongest ? result + "..." : result;
}

std::string in_quotes(std::string_view name) { return cat("'", printable(name), "'"); }

std::string domain_name(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

std::string describe(const RawNode& node) {
  return cat("node ", in_quotes(node.name), " (", printable(node.op_type), ", ",
             domain_name(node.domain), " ", node.opset, ")");
}

const RawAttr* find_attr(const RawNode& node, std::string_view name) {
  for (const RawAttr& attr : node.attrs)
    if (attr.name == name) return &attr;
  return nullptr;
}

}  // namespace tw::onnx
