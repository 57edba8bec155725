// gemm.h: what the builder and the product kernels agree on.
#pragma once

#include <cstdint>

namespace tw::cuda {

/// Bit of Record::flags: products of f32 may round their operands to tf32.
inline constexpr uint8_t kAllowTf32 = 1;

}  // namespace tw::cuda
