#include "cli/json.h"

#include <cmath>

#include "base/cat.h"

namespace tw::cli {
namespace {

void append_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += cat("\\u00", kHex[byte >> 4], kHex[byte & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

void indent(std::string& out, size_t level) {
  out += '\n';
  out.append(2 * level, ' ');
}

}  // namespace

void Json::append(std::string& out, size_t level) const {
  if (const auto* truth = std::get_if<bool>(&value_)) {
    out += *truth ? "true" : "false";
  } else if (const auto* integer = std::get_if<int64_t>(&value_)) {
    out += cat(*integer);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    out += std::isfinite(*number) ? cat(*number) : "null";
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    append_string(out, *text);
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    out += '[';
    for (size_t i = 0; i < array->size(); ++i) {
      if (i > 0) out += ',';
      indent(out, level + 1);
      (*array)[i].append(out, level + 1);
    }
    if (!array->empty()) indent(out, level);
    out += ']';
  } else {
    const auto& object = std::get<Object>(value_);
    out += '{';
    for (size_t i = 0; i < object.size(); ++i) {
      if (i > 0) out += ',';
      indent(out, level + 1);
      append_string(out, object[i].first);
      out += ": ";
      object[i].second.append(out, level + 1);
    }
    if (!object.empty()) indent(out, level);
    out += '}';
  }
}

std::string Json::text() const {
  std::string out;
  append(out, 0);
  out += '\n';
  return out;
}

}  // namespace tw::cli
