#include "backends/cuda/graph/submit.h"

#include <cuda.h>

#include "backends/cuda/graph/memory.h"

namespace tw::cuda {
namespace {

/// A function of the driver by name: nothing links the driver's library.
Result<void*> driver_function(const char* name) {
  constexpr unsigned kVersion = 12000;
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
  TRY(check(cudaGetDriverEntryPointByVersion(name, &symbol, kVersion, cudaEnableDefault, &found),
            name));
  if (found != cudaDriverEntryPointSuccess)
    return error(Code::kIncompatible, "the driver has no ", name, ", expected one for CUDA 12.0");
  return symbol;
}

constexpr auto kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;
constexpr auto kPromotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
constexpr auto kNoFill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
constexpr auto kPlain = CU_TENSOR_MAP_INTERLEAVE_NONE;

Result<CUtensorMap> encode(const TensorBoxes& boxes, std::byte* address) {
  static const Result<void*> tiled = driver_function("cuTensorMapEncodeTiled");
  static const Result<void*> pixels = driver_function("cuTensorMapEncodeIm2col");
  const auto type = boxes.dtype == DType::kF16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                               : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const auto columns = static_cast<cuuint32_t>(128 / size_bytes(boxes.dtype));
  const std::array<cuuint32_t, 4> box{columns, boxes.rows, boxes.lines, 1};
  const std::array<cuuint32_t, 4> steps{1, boxes.steps[0], boxes.steps[1], 1};
  static_assert(sizeof(cuuint64_t) == sizeof(uint64_t));
  const auto* dims = reinterpret_cast<const cuuint64_t*>(boxes.dims.data());
  const auto* pitches = reinterpret_cast<const cuuint64_t*>(boxes.pitches.data());
  CUtensorMap map{};
  CUresult result = CUDA_SUCCESS;
  if (boxes.rank == 2 || boxes.lines > 0) {
    auto* const encode_box = reinterpret_cast<decltype(cuTensorMapEncodeTiled)*>(TRY(tiled));
    const std::array<cuuint32_t, 4> each{1, 1, 1, 1};
    result = encode_box(&map, type, boxes.rank, address, dims, pitches, box.data(), each.data(),
                        kPlain, kSwizzle, kPromotion, kNoFill);
  } else {
    auto* const encode_pixels = reinterpret_cast<decltype(cuTensorMapEncodeIm2col)*>(TRY(pixels));
    result =
        encode_pixels(&map, type, 4, address, dims, pitches, boxes.lower.data(), boxes.upper.data(),
                      columns, boxes.rows, steps.data(), kPlain, kSwizzle, kPromotion, kNoFill);
  }
  if (result != CUDA_SUCCESS)
    return error(Code::kInternal, "the driver takes no tensor map of ", boxes.rank, " dims: error ",
                 static_cast<int>(result));
  return map;
}

}  // namespace

Result<void> submit(const Launch& launch, cudaKernel_t kernel, cudaStream_t stream, bool overlaps,
                    std::byte* fault, const AddressOf& address_of) {
  std::vector<std::byte> params = launch.params;
  for (const Pointer& pointer : launch.pointers) {
    std::byte* address = address_of(pointer.slot);
    std::memcpy(params.data() + pointer.offset, &address, sizeof address);
  }
  for (const TensorBoxes& boxes : launch.boxes) {
    const CUtensorMap map = TRY(encode(boxes, address_of(boxes.slot)));
    std::memcpy(params.data() + boxes.offset, &map, sizeof map);
  }
  if (launch.fault_offset) std::memcpy(params.data() + *launch.fault_offset, &fault, sizeof fault);
  cudaLaunchConfig_t config{};
  config.gridDim = {launch.grid[0], launch.grid[1], launch.grid[2]};
  config.blockDim = {launch.threads, 1, 1};
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  std::array<cudaLaunchAttribute, 2> attributes;
  if (launch.cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs].val.clusterDim = {launch.cluster, 1, 1};
    ++config.numAttrs;
  }
  if (overlaps) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs].val.programmaticStreamSerializationAllowed = 1;
    ++config.numAttrs;
  }
  config.attrs = attributes.data();
  std::array<void*, 1> arguments{params.data()};
  return check(
      cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments.data()),
      "a launch");
}

}  // namespace tw::cuda
