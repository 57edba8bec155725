// Host side of the streaming GEMM: planning, refusals, and one launch for each of the four
// instances.
#include "backends/cuda/tasks/gemm_stream.h"

#include "backends/cuda/tasks/gemm_stream.cuh"
#include "backends/cuda/tensor_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tw::cuda {
namespace {

struct RowsOfX8 {
  static constexpr GemmStreamConfig kConfig = {.column_tiles = 1, .x_group = 8};
};
struct RowsOfX16 {
  static constexpr GemmStreamConfig kConfig = {.column_tiles = 2, .x_group = 4};
};
struct RowsOfX32 {
  static constexpr GemmStreamConfig kConfig = {.column_tiles = 4, .x_group = 2};
};
struct RowsOfX64 {
  static constexpr GemmStreamConfig kConfig = {.column_tiles = 8, .x_group = 2};
};

template <class Variant>
__global__ void __launch_bounds__(Variant::kConfig.max_threads(), Variant::kConfig.blocks_per_sm)
    gemm_stream_kernel(const __grid_constant__ GemmStreamParams params) {
  extern __shared__ __align__(1024) uint8_t smem[];
  run_gemm_stream<Variant::kConfig>(params, smem);
}

struct Instance {
  int max_m, smem_bytes;
  void (*kernel)(GemmStreamParams);
};

template <class Variant>
constexpr Instance instance_of() {
  return {Variant::kConfig.max_m(), Variant::kConfig.smem_bytes(), gemm_stream_kernel<Variant>};
}

constexpr Instance kInstances[] = {instance_of<RowsOfX8>(), instance_of<RowsOfX16>(),
                                   instance_of<RowsOfX32>(), instance_of<RowsOfX64>()};
constexpr int kMaxM = RowsOfX64::kConfig.max_m();

const Instance& instance_for(int m) {
  for (const Instance& instance : kInstances)
    if (m <= instance.max_m) return instance;
  return kInstances[0];
}

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// Into how many slices K is cut: the count that leaves the busiest of kBlocks blocks the least to
// stream, when a block has at most one warp tile a warp; among equals the largest, which keeps the
// most warps busy. Part of the meaning of a weight: kBlocks is a constant of that meaning, not the
// machine's number of multiprocessors.
int k_slices_of(int n, int k) {
  constexpr int kBlocks = 132, kMaxTiles = 8, kMinSliceChunks = 8, kMaxSlices = 16;
  const int tiles = ceil_div(n, kWarpRows), chunks = ceil_div(k, kChunkK);
  int best = 1, least = ceil_div(tiles, kBlocks) * chunks;
  for (int slices = 2; slices <= std::min(kMaxSlices, chunks / kMinSliceChunks); ++slices) {
    const int tiles_of_block = ceil_div(tiles, kBlocks / slices);
    const int load = tiles_of_block * ceil_div(chunks, slices);
    if (tiles_of_block > kMaxTiles || load > least) continue;
    best = slices;
    least = load;
  }
  return best;
}

bool aligned(const void* pointer, size_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

}  // namespace

size_t GemmStreamPlan::partial_bytes(int m) const {
  if (k_slices == 1) return 0;
  return size_t{sizeof(float)} * k_slices * warp_tiles * kWarpRows * instance_for(m).max_m;
}

GemmStreamPlan plan_gemm_stream(int n, int k, int sm_count) {
  GemmStreamPlan plan{.k_slices = k_slices_of(n, k), .warp_tiles = ceil_div(n, kWarpRows)};
  plan.blocks = std::min(std::max(sm_count, plan.k_slices), plan.k_slices * plan.warp_tiles);
  const int longest_run = ceil_div(plan.warp_tiles, plan.blocks / plan.k_slices);
  const int rounds = ceil_div(longest_run, RowsOfX8::kConfig.max_warps);
  plan.warps = ceil_div(longest_run, rounds);
  return plan;
}

const char* gemm_stream_refusal(const GemmStreamArgs& a, const GemmStreamPlan& plan) {
  if (a.m < 1 || a.m > kMaxM) return "gemm_stream takes 1 to 64 rows of x";
  if (a.n < 1 || a.k < 1) return "gemm_stream takes no empty weight";
  if (a.k % 8 != 0)
    return "gemm_stream takes K in multiples of 8: the copy engine moves 16 bytes at least";
  if (a.x_pitch % 8 != 0 || a.w_pitch % 8 != 0)
    return "gemm_stream takes rows of x and w at multiples of 16 bytes";
  if (a.x_pitch < a.k || a.w_pitch < a.k || a.y_pitch < a.n)
    return "gemm_stream takes pitches no smaller than a row";
  if (a.y_pitch % 2 != 0 || !aligned(a.y, 4))
    return "gemm_stream takes rows of y at multiples of 4 bytes";
  if (!aligned(a.x, 16) || !aligned(a.w, 16))
    return "gemm_stream takes x and w at 16-byte aligned addresses";
  if (plan.k_slices != k_slices_of(a.n, a.k))
    return "gemm_stream was given the plan of another weight";
  if (plan.k_slices > 1 && (a.partials == nullptr || !aligned(a.partials, 16)))
    return "gemm_stream needs scratch for this weight, since its K is cut";
  return nullptr;
}

cudaError_t prepare_gemm_stream() {
  for (const Instance& instance : kInstances) {
    const cudaError_t error = cudaFuncSetAttribute(
        instance.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, instance.smem_bytes);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t launch_gemm_stream(const GemmStreamArgs& args, const GemmStreamPlan& plan, bool overlap,
                               cudaStream_t stream) {
  if (gemm_stream_refusal(args, plan) != nullptr) return cudaErrorInvalidValue;
  const Instance& instance = instance_for(args.m);
  GemmStreamParams params{.bias = args.bias,
                          .y = args.y,
                          .y_pitch = args.y_pitch,
                          .partials = static_cast<float4*>(args.partials),
                          .mailbox = args.mailbox,
                          .m = args.m,
                          .n = args.n,
                          .warp_tiles = plan.warp_tiles,
                          .k_chunks = ceil_div(args.k, kChunkK),
                          .k_slices = plan.k_slices};
  cudaError_t error =
      encode_box_map({args.w, args.n, args.k, args.w_pitch}, kWarpRows, &params.w_map);
  if (error != cudaSuccess) return error;
  error = encode_box_map({args.x, args.m, args.k, args.x_pitch}, instance.max_m, &params.x_map);
  if (error != cudaSuccess) return error;

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(plan.blocks));
  config.blockDim = dim3(static_cast<unsigned>(plan.warps * 32));
  config.dynamicSmemBytes = static_cast<size_t>(instance.smem_bytes);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap ? 1 : 0;
  return cudaLaunchKernelEx(&config, instance.kernel, params);
}

}  // namespace tw::cuda
