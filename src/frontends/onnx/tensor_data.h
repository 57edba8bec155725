// tensor_data.h: from the fields of an ONNX TensorProto to a tensor. Big data is not copied: the
// tensor points into the parsed message or the mapped file and keeps it alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "frontends/onnx/external_data.h"

namespace tw::onnx {

/// The fields as they stand in the message; spans are empty where a field is absent.
struct TensorFields {
  std::span<const int64_t> dims = {};
  int data_type = 0;
  std::string_view raw = {};               // raw_data: the elements as they lie in memory
  std::span<const float> floats = {};      // float_data
  std::span<const double> doubles = {};    // double_data
  std::span<const int32_t> ints32 = {};    // int32_data: every type of at most 32 bits but u32
  std::span<const int64_t> ints64 = {};    // int64_data
  std::span<const uint64_t> uints64 = {};  // uint64_data: u32 and u64
  bool is_external = false;
  std::vector<std::pair<std::string, std::string>> external = {};
};

/// The element type with this number in ONNX. A type that we do not have is refused with its name.
Result<DType> to_dtype(int onnx_data_type);
/// The dims when their number and product are bearable.
Result<Dims> to_dims(std::span<const int64_t> dims);

/// The tensor; `owner` keeps the message alive that the fields point into.
Result<Tensor> make_tensor(const TensorFields& fields, const std::shared_ptr<const void>& owner,
                           ExternalFiles& files);

}  // namespace tw::onnx
