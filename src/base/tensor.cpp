#include "base/tensor.h"

#include <algorithm>
#include <limits>

#include "base/half.h"
#include "base/memory.h"

namespace tw {
namespace {

template <class T>
T load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(std::byte* data, int64_t i, T value) {
  std::memcpy(data + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// C++ leaves the conversion of out-of-range floats open; here they saturate and NaN is 0.
int64_t to_int64(double value) {
  if (value != value) return 0;
  if (value >= 9223372036854775807.0) return std::numeric_limits<int64_t>::max();
  if (value <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

Result<int64_t> checked_bytes(DType dtype, const Dims& dims) {
  int64_t bytes = size_bytes(dtype);
  bool empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0)
      return error(Code::kInvalidArgument, "dimension ", dim, " is negative in [", join(dims, ","),
                   "]");
    empty = empty || dim == 0;
  }
  for (const int64_t dim : dims)  // beside a dim of 0 too: products of some dims are taken
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(1, dim), &bytes))
      return error(Code::kOutOfMemory, dtype, "[", join(dims, ","), "] passes 2^63 bytes");
  return empty ? 0 : bytes;
}

Result<Tensor> Tensor::try_make(DType dtype, const Dims& dims) {
  const int64_t bytes = TRY(checked_bytes(dtype, dims));
  auto memory = try_alloc(bytes);
  if (!memory.ok()) return std::move(memory).in(cat(dtype, "[", join(dims, ","), "]")).error();
  const std::byte* data = memory.value().get();
  return view(dtype, dims, data, std::move(memory).take());
}

Tensor Tensor::view(DType dtype, const Dims& dims, const void* data,
                    std::shared_ptr<const void> owner) {
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.dims_ = dims;
  tensor.data_ = static_cast<const std::byte*>(data);
  tensor.owner_ = std::move(owner);
  return tensor;
}

Tensor Tensor::from_ints(std::span<const int64_t> values, bool scalar) {
  Dims dims;
  if (!scalar) dims.push_back(static_cast<int64_t>(values.size()));
  auto made = try_make(DType::kI64, dims);
  CHECK(made.ok(), "a short list of integers fits in memory");
  Tensor tensor = std::move(made).take();
  for (size_t i = 0; i < values.size(); ++i) tensor.set_int(static_cast<int64_t>(i), values[i]);
  return tensor;
}

double Tensor::float_at(int64_t i) const {
  switch (dtype_) {
    case DType::kF32:
      return load<float>(data_, i);
    case DType::kF64:
      return load<double>(data_, i);
    case DType::kF16:
      return f16_to_f32(load<uint16_t>(data_, i));
    case DType::kBF16:
      return bf16_to_f32(load<uint16_t>(data_, i));
    case DType::kF8E4M3:
      return f8e4m3_to_f32(load<uint8_t>(data_, i));
    case DType::kF8E5M2:
      return f8e5m2_to_f32(load<uint8_t>(data_, i));
    case DType::kU64:
      return static_cast<double>(load<uint64_t>(data_, i));
    default:
      return static_cast<double>(int_at(i));
  }
}

int64_t Tensor::int_at(int64_t i) const {
  switch (dtype_) {
    case DType::kI8:
      return load<int8_t>(data_, i);
    case DType::kI16:
      return load<int16_t>(data_, i);
    case DType::kI32:
      return load<int32_t>(data_, i);
    case DType::kI64:
      return load<int64_t>(data_, i);
    case DType::kU8:
    case DType::kBool:
      return load<uint8_t>(data_, i);
    case DType::kU16:
      return load<uint16_t>(data_, i);
    case DType::kU32:
      return load<uint32_t>(data_, i);
    case DType::kU64:
      return static_cast<int64_t>(load<uint64_t>(data_, i));
    default:
      return to_int64(float_at(i));
  }
}

void Tensor::set_float(int64_t i, double value) {
  std::byte* data = mutable_data();
  switch (dtype_) {
    case DType::kF32:
      return store(data, i, static_cast<float>(value));
    case DType::kF64:
      return store(data, i, value);
    case DType::kF16:
      return store(data, i, f32_to_f16(static_cast<float>(value)));
    case DType::kBF16:
      return store(data, i, f32_to_bf16(static_cast<float>(value)));
    case DType::kF8E4M3:
      return store(data, i, f32_to_f8e4m3(static_cast<float>(value)));
    case DType::kF8E5M2:
      return store(data, i, f32_to_f8e5m2(static_cast<float>(value)));
    default:
      return set_int(i, to_int64(value));
  }
}

void Tensor::set_int(int64_t i, int64_t value) {
  std::byte* data = mutable_data();
  switch (dtype_) {
    case DType::kI8:
      return store(data, i, static_cast<int8_t>(value));
    case DType::kI16:
      return store(data, i, static_cast<int16_t>(value));
    case DType::kI32:
      return store(data, i, static_cast<int32_t>(value));
    case DType::kI64:
      return store(data, i, value);
    case DType::kU8:
      return store(data, i, static_cast<uint8_t>(value));
    case DType::kU16:
      return store(data, i, static_cast<uint16_t>(value));
    case DType::kU32:
      return store(data, i, static_cast<uint32_t>(value));
    case DType::kU64:
      return store(data, i, static_cast<uint64_t>(value));
    case DType::kBool:
      return store(data, i, static_cast<uint8_t>(value != 0));
    default:
      return set_float(i, static_cast<double>(value));
  }
}

Tensor Tensor::reshaped(const Dims& dims) const {
  CHECK(element_count(dims) == count(), "reshaping keeps the number of elements");
  Tensor tensor = *this;
  tensor.dims_ = dims;
  return tensor;
}

std::string Tensor::type_text() const { return cat(dtype_, "[", join(dims_, ","), "]"); }

}  // namespace tw
