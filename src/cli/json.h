// json.h: JSON text from values; fields keep their order. The program writes JSON and never reads
// it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tw::cli {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json(bool value) : value_(value) {}    // NOLINT(google-explicit-constructor)
  Json(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T value) : value_(static_cast<int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}   // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(const char* value) : value_(std::string(value)) {}  // NOLINT(google-explicit-constructor)
  Json(Array value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Json(Object value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor)

  /// Two spaces a level, a line feed at the end. Numbers read back as the same double; not-a-number
  /// and infinities are null.
  std::string text() const;

 private:
  void append(std::string& out, size_t level) const;
  std::variant<bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace tw::cli
