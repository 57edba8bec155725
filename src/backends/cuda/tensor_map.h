// Descriptors for the bulk tensor copy engine, made on the host.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace tw::cuda {

/// A row-major bf16 matrix in device memory; `pitch` counts elements.
struct MatrixView {
  const void* data;
  int64_t rows, cols, pitch;
};

/// Describes boxes of `box_rows` rows x 64 columns of `matrix`, stored with the 128-byte swizzle;
/// what lies outside the matrix reads as zero. `matrix.data` must be 16-byte aligned and the pitch
/// a multiple of 8. Finds the driver's encoder at each call, so that nothing links the driver
/// library.
cudaError_t encode_box_map(const MatrixView& matrix, int box_rows, CUtensorMap* map);

}  // namespace tw::cuda
