// cat.h: builds a string out of parts; the project's substitute for std::format, which g++ 12 lacks.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace tw {

namespace detail {

inline void append_part(std::string& out, std::string_view part) { out += part; }
inline void append_part(std::string& out, const char* part) { out += part; }
inline void append_part(std::string& out, char part) { out += part; }
inline void append_part(std::string& out, bool part) { out += part ? "true" : "false"; }

template <class T>
  requires(std::integral<T> || std::floating_point<T>)
void append_part(std::string& out, T part) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, part).ptr;
  out.append(digits, end);
}

template <class T>
concept HasToString = requires(const T& value) {
  { to_string(value) } -> std::convertible_to<std::string>;
};

/// Any type with a `to_string` found by argument-dependent lookup can be a part.
template <HasToString T>
  requires(!std::integral<T> && !std::floating_point<T>)
void append_part(std::string& out, const T& part) {
  out += to_string(part);
}

}  // namespace detail

/// The parts one after another: strings as they are, numbers in shortest decimal form.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (detail::append_part(out, parts), ...);
  return out;
}

/// The items of `range` as text with `separator` between them.
template <class Range>
std::string join(const Range& range, std::string_view separator) {
  std::string out;
  bool first = true;
  for (const auto& item : range) {
    if (!first) out += separator;
    first = false;
    detail::append_part(out, item);
  }
  return out;
}

}  // namespace tw
