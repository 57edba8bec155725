// inputs.h: the types of a model's inputs: dims become numbers and symbols, the caller's shapes are
// applied.
#pragma once

#include <vector>

#include "base/result.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/raw_model.h"

namespace tw::onnx {

/// One type an input, in their order.
Result<std::vector<ir::TensorType>> input_types(const std::vector<RawInput>& inputs,
                                                const ImportOptions& options);

}  // namespace tw::onnx
