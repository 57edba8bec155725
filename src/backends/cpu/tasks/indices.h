// indices.h: indices that come as data: read from any integer type, counted from the end when
// negative, checked. A reader remembers the first bad one; loops look at bad() before they touch
// memory, and status() says at the end what was wrong.
#pragma once

#include "backends/cpu/lanes.h"
#include "backends/cpu/window.h"

namespace tw::cpu {

class IndexReader {
 public:
  IndexReader(DType dtype, int64_t extent, size_t axis)
      : dtype_(dtype), extent_(extent), axis_(axis) {}

  /// The index at `at`, in [0, extent) unless this or an earlier one was bad.
  int64_t read(const std::byte* at) {
    const int64_t found = value(at);
    const int64_t i = found < 0 ? found + extent_ : found;
    if (i >= 0 && i < extent_) return i;
    if (!bad_) bad_value_ = found;
    bad_ = true;
    return 0;
  }

  Result<void> status() const {
    if (!bad_) return {};
    return error(Code::kInvalidArgument, "index ", bad_value_, " on axis ", axis_,
                 " is out of range: expected ", -extent_, " to ", extent_ - 1);
  }
  bool bad() const { return bad_; }

 private:
  int64_t value(const std::byte* at) const {
    if (dtype_ == DType::kI64) return *reinterpret_cast<const int64_t*>(at);
    if (dtype_ == DType::kI32) return *reinterpret_cast<const int32_t*>(at);
    return with_element(dtype_, [&]<class Element>(Element) {
      const auto* bits = reinterpret_cast<const typename Element::Bits*>(at);
      return convert<int64_t>(Element::get(*bits));
    });
  }

  const DType dtype_;
  const int64_t extent_;
  const size_t axis_;
  bool bad_ = false;
  int64_t bad_value_ = 0;
};

/// Tuples of coordinates in the last dim of an index operand.
class CoordinateReader {
 public:
  /// The tuples name dims [first_dim, first_dim + depth) of `target`.
  CoordinateReader(const Window& index, const Window& target, size_t first_dim, size_t depth)
      : index_stride_(index.strides.back()) {
    for (size_t d = 0; d < depth; ++d) {
      readers_.push_back({index.dtype, target.dims[first_dim + d], first_dim + d});
      strides_.push_back(target.strides[first_dim + d]);
    }
  }

  /// Bytes from the target's first element to the one that the tuple at `at` names. Nothing is read
  /// after a bad tuple, so that status() is about the first.
  int64_t offset(const std::byte* at) {
    if (bad_) return 0;
    int64_t bytes = 0;
    for (size_t d = 0; d < readers_.size(); ++d) {
      bytes += readers_[d].read(at + static_cast<int64_t>(d) * index_stride_) * strides_[d];
      bad_ |= readers_[d].bad();
    }
    return bytes;
  }

  Result<void> status() const {
    for (const IndexReader& reader : readers_) TRY(reader.status());
    return {};
  }
  bool bad() const { return bad_; }

 private:
  const int64_t index_stride_;
  std::vector<IndexReader> readers_;
  Dims strides_;
  bool bad_ = false;
};

}  // namespace tw::cpu
