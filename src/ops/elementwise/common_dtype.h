// common_dtype.h: ONNX's numbers for element types, as attributes such as Cast's `to` carry them.
#pragma once

#include "base/dtype.h"
#include "base/result.h"

namespace tw::ops {

/// The type that TensorProto.DataType `number` stands for. Fails for strings, complex numbers and
/// types that we lack.
Result<DType> dtype_from_onnx(int64_t number);

}  // namespace tw::ops
