// wgmma.h: the product instruction of a warpgroup as a device function.
#pragma once

#include <string>

#include "base/dtype.h"

namespace tw::cuda {

/// `wgmma_step(float (&d)[cols / 2], adds, a, b)`: d[64, cols] = (adds ? d : 0) + a[64, 16] b[cols,
/// 16]^T, both sides by descriptors of shared memory; f16 or bf16. `cols` is a multiple of 8, at
/// most 256.
std::string wgmma_step(DType dtype, int cols);

/// `wgmma_rows_step(d, adds, const uint32_t (&a)[4], b)`: the same with rows of a in registers.
std::string wgmma_rows_step(DType dtype, int cols);

}  // namespace tw::cuda
