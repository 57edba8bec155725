// dtype.h: the element types of tensors; every layer and the plan file use these numbers (append
// only).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw {

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
  kBool,  // one byte, 0 or 1
};
inline constexpr int kDTypeCount = 15;

int64_t size_bytes(DType dtype);
bool is_float(DType dtype);
bool is_signed_int(DType dtype);
/// True for every integer type, not for bool.
bool is_int(DType dtype);

/// "f32", "bf16", "i64", "bool" ...
std::string_view dtype_name(DType dtype);
std::optional<DType> find_dtype(std::string_view name);
inline std::string to_string(DType dtype) { return std::string(dtype_name(dtype)); }

}  // namespace tw
