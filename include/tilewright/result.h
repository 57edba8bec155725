// result.h: a value, or the sentence that says why there is none. No exception leaves this library.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace tilewright {

/// What kind of failure it is.
enum class Code : uint8_t {
  kInvalidArgument,  ///< a call that cannot be meant: wrong dtype, rank, size, name
  kInvalidModel,     ///< the model contradicts itself or its specification
  kUnsupported,      ///< legal, but not something Tilewright does
  kNotFound,         ///< no such file
  kOutOfMemory,
  kIo,            ///< the operating system refused
  kCorrupt,       ///< bytes that cannot be what they claim to be
  kIncompatible,  ///< a good plan on the wrong machine or version
  kCancelled,
  kInternal,  ///< a mistake of Tilewright's own
};

/// The message names the thing, what was found and what was expected; one sentence without a full
/// stop.
struct Error {
  Code code = Code::kInternal;
  std::string message;
};

/// A T or an Error. Reading the one that is not there ends the process.
template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a value is a result
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): so is an error
  Result(Error failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& { return *need<0>(); }
  T& value() & { return const_cast<T&>(*need<0>()); }
  T value() && { return std::move(const_cast<T&>(*need<0>())); }
  const Error& error() const { return *need<1>(); }
  const T& operator*() const { return value(); }
  T& operator*() { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  template <size_t kIndex>
  const std::variant_alternative_t<kIndex, std::variant<T, Error>>* need() const {
    const auto* held = std::get_if<kIndex>(&state_);
    if (held == nullptr) std::abort();
    return held;
  }
  std::variant<T, Error> state_;
};

/// Done, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an error is a result
  Result(Error failure) : failed_(true), failure_(std::move(failure)) {}

  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    if (!failed_) std::abort();
    return failure_;
  }

 private:
  bool failed_ = false;
  Error failure_;
};

}  // namespace tilewright
