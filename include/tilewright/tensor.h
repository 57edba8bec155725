// tensor.h: dense row-major tensors in host memory: what goes into a run and what comes out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/result.h"

namespace tilewright {

enum class DType : uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,  ///< one byte, 0 or 1
};

/// Bytes of one element.
int64_t size_bytes(DType dtype);
/// "f32", "i64", "bool" ...
const char* dtype_name(DType dtype);
/// The DType of a C++ type; bool is one byte.
template <class T>
constexpr DType dtype_of();

/// Copies share their bytes, which live until the last copy goes. Nothing here is synchronised: a
/// tensor that is written by one thread is not for another to read at the time.
class Tensor {
 public:
  /// 0 dims, one f32 of value 0.
  Tensor();

  /// Zero-filled, aligned to 64 bytes. At most 8 dims, each at least 0. Fails with kOutOfMemory,
  /// saying how many bytes.
  static Result<Tensor> create(DType dtype, const std::vector<int64_t>& dims);
  /// A view of the caller's memory: the product of `dims` elements of `dtype`, row-major, aligned
  /// as a C++ array of them would be. No byte is copied; the memory outlives every copy of the
  /// tensor. A run only reads its inputs.
  static Result<Tensor> view(DType dtype, const std::vector<int64_t>& dims, void* data);
  /// The elements of a vector, copied; their number is the product of `dims`.
  template <class T>
  static Result<Tensor> from(const std::vector<int64_t>& dims, const std::vector<T>& values);

  DType dtype() const { return dtype_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  int64_t count() const;  ///< elements
  int64_t bytes() const;
  void* data() { return data_; }
  const void* data() const { return data_; }
  /// The elements as T; null when T is not the tensor's type.
  template <class T>
  T* as() {
    return dtype_of<T>() == dtype_ ? static_cast<T*>(data_) : nullptr;
  }
  template <class T>
  const T* as() const {
    return dtype_of<T>() == dtype_ ? static_cast<const T*>(data_) : nullptr;
  }
  /// "f32[2,3]".
  std::string type_text() const;

 private:
  friend struct TensorAccess;  // of the library
  static Result<Tensor> copy_of(DType dtype, const std::vector<int64_t>& dims, const void* data,
                                int64_t bytes);

  DType dtype_ = DType::kF32;
  std::vector<int64_t> dims_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;  // null for a view
};

// clang-format off
template <> constexpr DType dtype_of<float>() { return DType::kF32; }
template <> constexpr DType dtype_of<double>() { return DType::kF64; }
template <> constexpr DType dtype_of<int8_t>() { return DType::kI8; }
template <> constexpr DType dtype_of<int16_t>() { return DType::kI16; }
template <> constexpr DType dtype_of<int32_t>() { return DType::kI32; }
template <> constexpr DType dtype_of<int64_t>() { return DType::kI64; }
template <> constexpr DType dtype_of<uint8_t>() { return DType::kU8; }
template <> constexpr DType dtype_of<uint16_t>() { return DType::kU16; }
template <> constexpr DType dtype_of<uint32_t>() { return DType::kU32; }
template <> constexpr DType dtype_of<uint64_t>() { return DType::kU64; }
template <> constexpr DType dtype_of<bool>() { return DType::kBool; }
// clang-format on

template <class T>
Result<Tensor> Tensor::from(const std::vector<int64_t>& dims, const std::vector<T>& values) {
  return copy_of(dtype_of<T>(), dims, values.data(),
                 static_cast<int64_t>(values.size() * sizeof(T)));
}

}  // namespace tilewright
