// bytes.h: little-endian bytes out and in. The reader checks every length against what is left, so
// hostile bytes end in a sentence.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace tw::plan {

class ByteWriter {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), p, p + sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<uint32_t>(text.size()));
    const auto* p = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), p, p + text.size());
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put_array(std::span<const T> items) {
    put(static_cast<uint32_t>(items.size()));
    align(8);
    const auto* p = reinterpret_cast<const std::byte*>(items.data());
    bytes_.insert(bytes_.end(), p, p + items.size_bytes());
  }
  void align(size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }
  /// Zero bytes up to `size` in all.
  void pad_to(size_t size) {
    CHECK(size >= bytes_.size(), "padding only adds");
    bytes_.resize(size);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view what)
      : bytes_(bytes), what_(what) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  Result<T> get() {
    T value;
    if (left() < sizeof value) return short_of(sizeof value);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  Result<std::string> get_text() {
    const uint32_t size = TRY(get<uint32_t>());
    if (left() < size) return short_of(size);
    std::string text(reinterpret_cast<const char*>(bytes_.data() + at_), size);
    at_ += size;
    return text;
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  Result<std::vector<T>> get_array() {
    const uint32_t count = TRY(get<uint32_t>());
    at_ = std::min(bytes_.size(), (at_ + 7) / 8 * 8);
    if (left() / sizeof(T) < count) return short_of(size_t{count} * sizeof(T));
    std::vector<T> items(count);
    if (count > 0)
      std::memcpy(static_cast<void*>(items.data()), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return items;
  }
  /// A count of things that take at least `least_bytes` each.
  Result<uint32_t> get_count(size_t least_bytes) {
    const uint32_t count = TRY(get<uint32_t>());
    if (left() / least_bytes < count) return short_of(size_t{count} * least_bytes);
    return count;
  }
  Result<void> align(size_t alignment) {
    const size_t at = (at_ + alignment - 1) / alignment * alignment;
    if (at > bytes_.size()) return short_of(at - at_);
    at_ = at;
    return {};
  }
  size_t left() const { return bytes_.size() - at_; }

 private:
  Error short_of(size_t wanted) const {
    return error(Code::kCorrupt, what_, " ends at byte ", bytes_.size(), ", expected ", wanted,
                 " more behind byte ", at_);
  }
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  std::string_view what_;
};

}  // namespace tw::plan
