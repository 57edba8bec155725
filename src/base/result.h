// result.h: a value, or the sentence that says why there is none. Used for everything that the
// world can get wrong (files, models, requests, memory); what only we can get wrong is a CHECK
// (base/check.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/cat.h"
#include "base/check.h"

namespace tw {

enum class Code : uint8_t {
  kInvalidArgument,  // a call or a command line that cannot be meant
  kInvalidModel,     // the model contradicts itself or its specification
  kUnsupported,      // legal, but not something we do
  kNotFound,
  kOutOfMemory,
  kIo,            // the operating system refused
  kCorrupt,       // bytes that cannot be what they claim to be
  kIncompatible,  // a good plan on the wrong machine or version
  kCancelled,
  kInternal,
};

std::string_view code_name(Code code);

/// Why something did not work. The message names the thing, what was found and what was expected;
/// lower case, no full stop.
struct [[nodiscard]] Error {
  Code code;
  std::string message;
};

template <class... Parts>
Error error(Code code, const Parts&... parts) {
  return Error{code, cat(parts...)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a value is a result
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): so is an error
  Result(Error failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  const T& value() const& { return *checked(); }
  T& value() & { return const_cast<T&>(*checked()); }
  T take() && { return std::move(const_cast<T&>(*checked())); }
  const Error& error() const { return std::get<1>(state_); }

  /// The same result; a failure's message gains "`place`: " in front.
  Result in(std::string_view place) && {
    if (!ok()) std::get<1>(state_).message.insert(0, cat(place, ": "));
    return std::move(*this);
  }

 private:
  const T* checked() const {
    CHECK(ok(), "value() of a failed result");
    return &std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an error is a result
  Result(Error failure) : failed_(true), failure_(std::move(failure)) {}

  bool ok() const { return !failed_; }
  void take() && {}
  const Error& error() const { return failure_; }

  Result in(std::string_view place) && {
    if (failed_) failure_.message.insert(0, cat(place, ": "));
    return std::move(*this);
  }

 private:
  bool failed_ = false;
  Error failure_{Code::kInternal, {}};
};

using Status = Result<void>;

}  // namespace tw

/// The value of a Result; returns its error from the enclosing function when there is none. May be
/// nested.
#define TRY(expression) TW_TRY_NAMED(expression, __COUNTER__)
#define TW_TRY_NAMED(expression, number) TW_TRY_PASTE(expression, number)
#define TW_TRY_PASTE(expression, number) TW_TRY_WITH(expression, tw_result_##number)
// NOLINTBEGIN(bugprone-macro-parentheses): `result` is a name that is declared
#define TW_TRY_WITH(expression, result)                   \
  ({                                                      \
    auto result = (expression);                           \
    if (!result.ok()) return ::tw::Error(result.error()); \
    std::move(result).take();                             \
  })
// NOLINTEND(bugprone-macro-parentheses)
