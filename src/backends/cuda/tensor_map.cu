#include "backends/cuda/tensor_map.h"

namespace tw::cuda {
namespace {

constexpr unsigned kEncoderVersion = 12000;
constexpr cuuint32_t kBoxColumns = 64;

}  // namespace

cudaError_t encode_box_map(const MatrixView& matrix, int box_rows, CUtensorMap* map) {
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &symbol, kEncoderVersion, cudaEnableDefault, &found);
  if (error != cudaSuccess) return error;
  if (found != cudaDriverEntryPointSuccess) return cudaErrorNotSupported;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(symbol);

  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(matrix.cols),
                                 static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t pitch_bytes[1] = {static_cast<cuuint64_t>(matrix.pitch) * 2};
  const cuuint32_t box[2] = {kBoxColumns, static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result =
      encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix.data), extents,
             pitch_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace tw::cuda
