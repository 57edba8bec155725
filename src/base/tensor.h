// tensor.h: a dense row-major tensor in host memory: constants of a graph, inputs and outputs of a
// run, reference results.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

#include "base/dtype.h"
#include "base/fixed_list.h"
#include "base/result.h"

namespace tw {

/// Copies share the bytes. Whoever makes a tensor may write it until it is shared; after that it is
/// read only.
class Tensor {
 public:
  Tensor() = default;
  /// Zero-filled, 64-byte aligned. Fails with kOutOfMemory (or when the size passes 2^63), saying
  /// how many bytes were wanted.
  static Result<Tensor> try_make(DType dtype, const Dims& dims);
  /// A view of bytes that `owner` keeps alive; `data` holds element_count(dims) elements.
  static Tensor view(DType dtype, const Dims& dims, const void* data,
                     std::shared_ptr<const void> owner);
  /// A 1-d (or 0-d, when `scalar`) tensor of these integers as i64.
  static Tensor from_ints(std::span<const int64_t> values, bool scalar = false);

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t rank() const { return static_cast<int64_t>(dims_.size()); }
  int64_t count() const { return element_count(dims_); }
  int64_t bytes() const { return count() * size_bytes(dtype_); }
  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return const_cast<std::byte*>(data_); }

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_as() {
    return reinterpret_cast<T*>(mutable_data());
  }

  /// The element as a double (floats) or converted from its integer; bf16, f16 and fp8 included.
  double float_at(int64_t i) const;
  /// The element as int64 (floats truncate; u64 keeps its bits).
  int64_t int_at(int64_t i) const;
  /// Stores with the type's rounding (floats: nearest even, saturating for fp8) or C++ conversion
  /// (integers wrap).
  void set_float(int64_t i, double value);
  void set_int(int64_t i, int64_t value);

  /// The same bytes under other dims of equal element count.
  Tensor reshaped(const Dims& dims) const;
  /// "f32[2,3]".
  std::string type_text() const;

 private:
  DType dtype_ = DType::kF32;
  Dims dims_;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// count * size when the product of the dims fits in 63 bits and no dim is negative.
Result<int64_t> checked_bytes(DType dtype, const Dims& dims);

}  // namespace tw
