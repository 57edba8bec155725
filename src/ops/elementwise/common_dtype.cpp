#include "ops/elementwise/common_dtype.h"

namespace tw::ops {

Result<DType> dtype_from_onnx(int64_t number) {
  switch (number) {
    case 1:
      return DType::kF32;
    case 2:
      return DType::kU8;
    case 3:
      return DType::kI8;
    case 4:
      return DType::kU16;
    case 5:
      return DType::kI16;
    case 6:
      return DType::kI32;
    case 7:
      return DType::kI64;
    case 9:
      return DType::kBool;
    case 10:
      return DType::kF16;
    case 11:
      return DType::kF64;
    case 12:
      return DType::kU32;
    case 13:
      return DType::kU64;
    case 16:
      return DType::kBF16;
    case 17:
      return DType::kF8E4M3;
    case 19:
      return DType::kF8E5M2;
    default:
      return error(Code::kUnsupported, "onnx element type ", number, " is not supported");
  }
}

}  // namespace tw::ops
