// cat.h: builds a string out of parts; the project's substitute for std::format, which g++ 12
// lacks.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace tw {

namespace detail {

// Out of line: messages are made off the fast path, and g++ 12 warns wrongly where string copies
// are inlined (GCC bug 105651).
void append_part(std::string& out, std::string_view part);
inline void append_part(std::string& out, const char* part) {
  append_part(out, std::string_view(part));
}
inline void append_part(std::string& out, const std::string& part) {
  append_part(out, std::string_view(part));
}
inline void append_part(std::string& out, char part) {
  append_part(out, std::string_view(&part, 1));
}
inline void append_part(std::string& out, bool part) {
  append_part(out, std::string_view(part ? "true" : "false"));
}

template <class T>
  requires(std::integral<T> || std::floating_point<T>)
void append_part(std::string& out, T part) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, part).ptr;
  append_part(out, std::string_view(digits, static_cast<size_t>(end - digits)));
}

template <class T>
concept HasToString = requires(const T& value) {
  { to_string(value) } -> std::convertible_to<std::string>;
};

/// Any type with a `to_string` found by argument-dependent lookup can be a part.
template <HasToString T>
  requires(!std::integral<T> && !std::floating_point<T>)
void append_part(std::string& out, const T& part) {
  append_part(out, std::string_view(to_string(part)));
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
    if (!first) detail::append_part(out, separator);
    first = false;
    detail::append_part(out, item);
  }
  return out;
}

}  // namespace tw
