// What tests and benchmarks of device tasks share: checked calls, device arrays, random data that
// needs no host copy, and graphs of launches. Not part of the library.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace tw::cuda::testing {

/// Ends the program on a CUDA error: nothing measured or compared after one means anything.
inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// Owns `size` elements of device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t size) : size_(size) {
    check(cudaMalloc(&data_, (size == 0 ? 1 : size) * sizeof(T)), "cudaMalloc");
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  /// Sets every byte; 0xff makes every float a NaN.
  void fill_bytes(int byte) const {
    check(cudaMemset(data_, byte, size_ * sizeof(T)), "cudaMemset");
  }
  std::vector<T> to_host() const {
    std::vector<T> host(size_);
    check(cudaMemcpy(host.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t size_;
};

/// data[i] uniform in [-scale, scale), a function of (seed, i) only.
static __global__ void fill_uniform_kernel(__nv_bfloat16* data, size_t size, uint32_t seed,
                                           float scale) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += stride) {
    uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15ull + seed * 0xbf58476d1ce4e5b9ull;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9ull;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111ebull;
    const auto bits = static_cast<uint32_t>(hash >> 40);  // 24 bits
    data[i] = __float2bfloat16((static_cast<float>(bits) * 0x1p-23f - 1.0f) * scale);
  }
}

inline DeviceArray<__nv_bfloat16> uniform_bf16(size_t size, uint32_t seed, float scale) {
  DeviceArray<__nv_bfloat16> array(size);
  fill_uniform_kernel<<<1024, 256>>>(array.data(), size, seed, scale);
  check(cudaDeviceSynchronize(), "fill_uniform");
  return array;
}

/// The launches that `record` makes on a stream, as one graph that replays them.
class LaunchGraph {
 public:
  template <class Record>
  LaunchGraph(cudaStream_t stream, const Record& record) {
    cudaGraph_t graph;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
    record(stream);
    check(cudaStreamEndCapture(stream, &graph), "end capture");
    check(cudaGraphInstantiate(&exec_, graph, 0), "instantiate graph");
    check(cudaGraphDestroy(graph), "destroy graph");
  }
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
  ~LaunchGraph() { cudaGraphExecDestroy(exec_); }

  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(exec_, stream), "launch graph"); }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace tw::cuda::testing
