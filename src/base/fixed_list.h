// fixed_list.h: a list with a fixed capacity inside the object: usable in constinit tables and in
// hot paths.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

#include "base/check.h"

namespace tw {

template <class T, size_t kCapacity>
class FixedList {
 public:
  constexpr FixedList() = default;
  constexpr FixedList(std::initializer_list<T> items) {  // NOLINT(google-explicit-constructor)
    for (const T& item : items) push_back(item);
  }

  constexpr void push_back(const T& item) {
    CHECK(size_ < kCapacity, "a fixed list holds no more than its capacity");
    items_[size_++] = item;
  }
  constexpr void resize(size_t size) {
    CHECK(size <= kCapacity, "a fixed list holds no more than its capacity");
    for (size_t i = size_; i < size; ++i) items_[i] = T{};
    size_ = size;
  }
  constexpr void clear() { size_ = 0; }
  /// This list and `more` behind it.
  constexpr FixedList with(std::initializer_list<T> more) const {
    FixedList list = *this;
    for (const T& item : more) list.push_back(item);
    return list;
  }

  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  static constexpr size_t capacity() { return kCapacity; }
  constexpr const T& operator[](size_t i) const { return items_[i]; }
  constexpr T& operator[](size_t i) { return items_[i]; }
  constexpr const T& back() const { return items_[size_ - 1]; }
  constexpr T& back() { return items_[size_ - 1]; }
  constexpr const T* data() const { return items_.data(); }
  constexpr T* data() { return items_.data(); }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }
  constexpr T* begin() { return items_.data(); }
  constexpr T* end() { return items_.data() + size_; }

  friend constexpr bool operator==(const FixedList& a, const FixedList& b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i)
      if (!(a.items_[i] == b.items_[i])) return false;
    return true;
  }

 private:
  std::array<T, kCapacity> items_{};
  size_t size_ = 0;
};

/// Tensors have at most this many dimensions.
inline constexpr size_t kMaxRank = 8;
using Dims = FixedList<int64_t, kMaxRank>;

/// The product of the dims; 1 for a 0-d tensor.
constexpr int64_t element_count(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

}  // namespace tw
