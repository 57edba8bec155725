// tensor_proto.h: ONNX's test_data_set_N folders: input_0.pb, input_1.pb ... and output_0.pb ...,
// one TensorProto each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tw::cli {

struct NamedTensor {
  std::string name;  // "" where the file gives none
  Tensor tensor;
};

/// The bytes of one TensorProto.
Result<NamedTensor> parse_tensor_proto(std::span<const std::byte> bytes);

/// PREFIX_0.pb, PREFIX_1.pb ... of the folder, in their order; empty when there is no PREFIX_0.pb.
Result<std::vector<NamedTensor>> read_test_data(const std::string& folder, std::string_view prefix);

/// Whether the folder has an input_0.pb.
bool is_test_data(const std::string& folder);

}  // namespace tw::cli
