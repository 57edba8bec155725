#include "frontends/onnx/tensor_data.h"

#include <cstring>
#include <limits>

namespace tw::onnx {
namespace {

/// Below this many bytes a copy is cheaper than keeping a whole file alive.
constexpr int64_t kSmallBytes = 64;

struct OnnxType {
  int number;
  std::string_view name;
  std::optional<DType> dtype;
};

// The numbers of TensorProto.DataType.
constexpr OnnxType kTypes[] = {
    {1, "float", DType::kF32},
    {2, "uint8", DType::kU8},
    {3, "int8", DType::kI8},
    {4, "uint16", DType::kU16},
    {5, "int16", DType::kI16},
    {6, "int32", DType::kI32},
    {7, "int64", DType::kI64},
    {8, "string", {}},
    {9, "bool", DType::kBool},
    {10, "float16", DType::kF16},
    {11, "double", DType::kF64},
    {12, "uint32", DType::kU32},
    {13, "uint64", DType::kU64},
    {14, "complex64", {}},
    {15, "complex128", {}},
    {16, "bfloat16", DType::kBF16},
    {17, "float8e4m3fn", DType::kF8E4M3},
    {18, "float8e4m3fnuz", {}},
    {19, "float8e5m2", DType::kF8E5M2},
    {20, "float8e5m2fnuz", {}},
    {21, "uint4", {}},
    {22, "int4", {}},
    {23, "float4e2m1", {}},
    {24, "float8e8m0", {}},
    {25, "uint2", {}},
    {26, "int2", {}},
    {27, "float6e2m3", {}},
    {28, "float6e3m2", {}},
};

/// Whether a value of int32_data stands for an element of `dtype`; the narrow float types store
/// their bits there.
bool fits(int64_t value, DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return value >= -128 && value <= 127;
    case DType::kI16:
      return value >= -32768 && value <= 32767;
    case DType::kBool:
      return value == 0 || value == 1;
    case DType::kU8:
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      return value >= 0 && value <= 0xff;
    case DType::kU16:
    case DType::kF16:
    case DType::kBF16:
      return value >= 0 && value <= 0xffff;
    default:
      return true;
  }
}

/// Copies the low bytes of each value, which are the element on a little-endian machine.
template <class T>
Result<Tensor> narrow(std::span<const T> values, DType dtype, const Dims& dims) {
  Tensor tensor = TRY(Tensor::try_make(dtype, dims));
  const auto width = static_cast<size_t>(size_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    bool good = true;
    if constexpr (sizeof(T) == 4) good = fits(values[i], dtype);
    if constexpr (sizeof(T) == 8) good = values[i] <= std::numeric_limits<uint32_t>::max();
    if (!good)
      return error(Code::kInvalidModel, "element ", i, " is ", values[i], ", which no ", dtype,
                   " can be");
    std::memcpy(tensor.mutable_data() + i * width, &values[i], width);
  }
  return tensor;
}

/// A view of the bytes where that is worth it and their address suits the type, else a copy.
Result<Tensor> view_or_copy(const void* data, DType dtype, const Dims& dims,
                            const std::shared_ptr<const void>& owner) {
  const int64_t bytes = TRY(checked_bytes(dtype, dims));
  const bool aligned =
      reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(size_bytes(dtype)) == 0;
  if (bytes > kSmallBytes && aligned && dtype != DType::kBool)
    return Tensor::view(dtype, dims, data, owner);
  Tensor tensor = TRY(Tensor::try_make(dtype, dims));
  if (bytes > 0) std::memcpy(tensor.mutable_data(), data, static_cast<size_t>(bytes));
  if (dtype == DType::kBool)  // any byte may stand in a file; ours are 0 or 1
    for (int64_t i = 0; i < bytes; ++i)
      tensor.mutable_as<uint8_t>()[i] = tensor.as<uint8_t>()[i] != 0;
  return tensor;
}

Result<void> check_count(std::string_view field, size_t found, const Dims& dims) {
  const int64_t expected = element_count(dims);
  if (static_cast<int64_t>(found) == expected) return {};
  return error(Code::kInvalidModel, field, " has ", found, " elements, expected ", expected,
               " for [", join(dims, ","), "]");
}

/// Data in the field that belongs to the type. Equal types are viewed, narrower ones converted.
Result<Tensor> from_typed(const TensorFields& f, DType dtype, const Dims& dims,
                          const std::shared_ptr<const void>& owner) {
  switch (dtype) {
    case DType::kF32:
      TRY(check_count("float_data", f.floats.size(), dims));
      return view_or_copy(f.floats.data(), dtype, dims, owner);
    case DType::kF64:
      TRY(check_count("double_data", f.doubles.size(), dims));
      return view_or_copy(f.doubles.data(), dtype, dims, owner);
    case DType::kI64:
      TRY(check_count("int64_data", f.ints64.size(), dims));
      return view_or_copy(f.ints64.data(), dtype, dims, owner);
    case DType::kU64:
      TRY(check_count("uint64_data", f.uints64.size(), dims));
      return view_or_copy(f.uints64.data(), dtype, dims, owner);
    case DType::kU32:
      TRY(check_count("uint64_data", f.uints64.size(), dims));
      return narrow(f.uints64, dtype, dims);
    case DType::kI32:
      TRY(check_count("int32_data", f.ints32.size(), dims));
      return view_or_copy(f.ints32.data(), dtype, dims, owner);
    default:
      TRY(check_count("int32_data", f.ints32.size(), dims));
      return narrow(f.ints32, dtype, dims);
  }
}

}  // namespace

Result<DType> to_dtype(int onnx_data_type) {
  for (const OnnxType& type : kTypes) {
    if (type.number != onnx_data_type) continue;
    if (type.dtype) return *type.dtype;
    return error(Code::kUnsupported, "element type ", type.name, " is not supported");
  }
  return error(Code::kInvalidModel, "element type ", onnx_data_type, ", expected one of 1 to ",
               std::size(kTypes));
}

Result<Dims> to_dims(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank)
    return error(Code::kUnsupported, "rank ", dims.size(), ", expected at most ", kMaxRank);
  Dims result;
  int64_t product = 8;  // the widest element; zeros do not excuse the other dims
  for (const int64_t dim : dims) {
    if (dim < 0) return error(Code::kInvalidModel, "dimension ", dim, " is negative");
    if (__builtin_mul_overflow(product, dim == 0 ? 1 : dim, &product))
      return error(Code::kInvalidModel, "[", join(dims, ","), "] passes 2^63 bytes");
    result.push_back(dim);
  }
  return result;
}

Result<Tensor> make_tensor(const TensorFields& fields, const std::shared_ptr<const void>& owner,
                           ExternalFiles& files) {
  const DType dtype = TRY(to_dtype(fields.data_type));
  const Dims dims = TRY(to_dims(fields.dims));
  const int64_t bytes = TRY(checked_bytes(dtype, dims));
  if (fields.is_external) {
    const ExternalLocation where = TRY(parse_external_location(fields.external));
    const ExternalFiles::Bytes data = TRY(files.read(where, bytes));
    return view_or_copy(data.data, dtype, dims, data.owner);
  }
  if (fields.raw.empty()) return from_typed(fields, dtype, dims, owner);
  const bool typed = !fields.floats.empty() || !fields.doubles.empty() || !fields.ints32.empty() ||
                     !fields.ints64.empty() || !fields.uints64.empty();
  if (typed)
    return error(Code::kInvalidModel, "data stands in raw_data and in a typed field, expected one");
  if (static_cast<int64_t>(fields.raw.size()) != bytes)
    return error(Code::kInvalidModel, "raw_data has ", fields.raw.size(), " bytes, expected ",
                 bytes, " for ", dtype, "[", join(dims, ","), "]");
  return view_or_copy(fields.raw.data(), dtype, dims, owner);
}

}  // namespace tw::onnx
