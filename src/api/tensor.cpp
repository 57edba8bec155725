#include "tilewright/tensor.h"

#include "api/handles.h"

namespace tilewright {

static_assert(static_cast<int>(DType::kBool) == static_cast<int>(tw::DType::kBool),
              "public and internal dtypes have equal numbers");
static_assert(static_cast<int>(Code::kInternal) == static_cast<int>(tw::Code::kInternal),
              "public and internal codes have equal numbers");

namespace {

tw::DType internal(DType dtype) { return static_cast<tw::DType>(dtype); }

tw::Result<tw::Dims> internal_dims(const std::vector<int64_t>& dims) {
  if (dims.size() > tw::kMaxRank)
    return tw::error(tw::Code::kInvalidArgument, "a tensor has ", dims.size(),
                     " dims, expected at most ", tw::kMaxRank);
  tw::Dims result;
  for (const int64_t dim : dims) result.push_back(dim);
  return result;
}

}  // namespace

int64_t size_bytes(DType dtype) { return tw::size_bytes(internal(dtype)); }
const char* dtype_name(DType dtype) { return tw::dtype_name(internal(dtype)).data(); }

Error public_error(const tw::Error& error) {
  return {static_cast<Code>(error.code), error.message};
}

tw::Result<tw::Tensor> internal_tensor(const Tensor& tensor) {
  return tw::Tensor::view(internal(tensor.dtype()), TRY(internal_dims(tensor.dims())),
                          tensor.data(), std::make_shared<Tensor>(tensor));
}

Tensor TensorAccess::make(const tw::Tensor& tensor) {
  Tensor result;
  result.dtype_ = static_cast<DType>(tensor.dtype());
  result.dims_.assign(tensor.dims().begin(), tensor.dims().end());
  result.data_ = const_cast<std::byte*>(tensor.data());
  result.owner_ = std::make_shared<tw::Tensor>(tensor);
  return result;
}

Tensor::Tensor() {
  const auto element = std::make_shared<float>(0.0F);
  data_ = element.get();
  owner_ = element;
}

Result<Tensor> Tensor::create(DType dtype, const std::vector<int64_t>& dims) {
  const auto internal_shape = internal_dims(dims);
  if (!internal_shape.ok()) return public_error(internal_shape.error());
  const auto tensor = tw::Tensor::try_make(internal(dtype), internal_shape.value());
  if (!tensor.ok()) return public_error(tensor.error());
  return TensorAccess::make(tensor.value());
}

Result<Tensor> Tensor::view(DType dtype, const std::vector<int64_t>& dims, void* data) {
  const auto internal_shape = internal_dims(dims);
  if (!internal_shape.ok()) return public_error(internal_shape.error());
  const auto bytes = tw::checked_bytes(internal(dtype), internal_shape.value());
  if (!bytes.ok()) return public_error(bytes.error());
  if (data == nullptr && bytes.value() > 0)
    return Error{Code::kInvalidArgument, "a view needs memory, found a null pointer"};
  Tensor result;
  result.dtype_ = dtype;
  result.dims_ = dims;
  result.data_ = data;
  result.owner_ = nullptr;
  return result;
}

Result<Tensor> Tensor::copy_of(DType dtype, const std::vector<int64_t>& dims, const void* data,
                               int64_t bytes) {
  auto made = create(dtype, dims);
  if (!made.ok()) return made;
  Tensor tensor = std::move(made).value();
  if (tensor.bytes() != bytes)
    return Error{Code::kInvalidArgument, tw::cat(tensor.type_text(), " holds ", tensor.count(),
                                                 " elements, found ", bytes / size_bytes(dtype))};
  if (bytes > 0) std::memcpy(tensor.data(), data, static_cast<size_t>(bytes));
  return tensor;
}

int64_t Tensor::count() const {
  int64_t count = 1;
  for (const int64_t dim : dims_) count *= dim;
  return count;
}

int64_t Tensor::bytes() const { return count() * size_bytes(dtype_); }

std::string Tensor::type_text() const {
  return tw::cat(dtype_name(dtype_), "[", tw::join(dims_, ","), "]");
}

}  // namespace tilewright
