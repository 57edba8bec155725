// memory.h: CUDA's errors as ours, and memory that is given back with its scope.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "base/result.h"

namespace tw::cuda {

/// `what` says what was tried.
inline Result<void> check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return {};
  const Code code = status == cudaErrorMemoryAllocation ? Code::kOutOfMemory : Code::kInternal;
  return error(code, what, ": ", cudaGetErrorString(status), " (", cudaGetErrorName(status), ")");
}

/// Memory of the device, or page-locked memory of the host.
enum class MemoryKind : uint8_t {
  kDevice,
  kPinned
};

template <MemoryKind kKind>
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Buffer() {
    if (data_ == nullptr) return;
    if constexpr (kKind == MemoryKind::kDevice)
      cudaFree(data_);
    else
      cudaFreeHost(data_);
  }

  /// At least `bytes`; what was there before is gone. Says wanted and free when there is no room.
  Result<void> reserve(int64_t bytes, std::string_view what) {
    if (bytes <= bytes_) return {};
    *this = Buffer();
    cudaError_t status = cudaSuccess;
    if constexpr (kKind == MemoryKind::kDevice)
      status = cudaMalloc(&data_, static_cast<size_t>(bytes));
    else
      status = cudaMallocHost(&data_, static_cast<size_t>(bytes));
    if (status != cudaSuccess) {
      data_ = nullptr;
      cudaGetLastError();  // this failure is reported here and nowhere else
      size_t free = 0, total = 0;
      if (kKind == MemoryKind::kDevice && cudaMemGetInfo(&free, &total) == cudaSuccess)
        return error(Code::kOutOfMemory, what, " wants ", bytes, " bytes of device memory, found ",
                     free, " free of ", total);
      return error(Code::kOutOfMemory, what, " wants ", bytes,
                   " bytes of page-locked memory: ", cudaGetErrorString(status));
    }
    bytes_ = bytes;
    return {};
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};
using DeviceBuffer = Buffer<MemoryKind::kDevice>;
using PinnedBuffer = Buffer<MemoryKind::kPinned>;

}  // namespace tw::cuda
