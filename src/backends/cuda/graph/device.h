// device.h: one GPU as the runtime sees it: the plan's weights and kernels on it.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

#include "backends/cuda/graph/memory.h"
#include "backends/device/device.h"

namespace tw::cuda {

class Device : public backends::Device {
 public:
  /// Device 0. Fails with kIncompatible when there is none or it is not what the plan wants.
  static Result<std::unique_ptr<Device>> open(const plan::Plan& plan);
  ~Device() override;

  std::string description() const override;
  std::vector<std::string> notes() const override;
  Result<std::unique_ptr<backends::DeviceProgram>> prepare(
      const task::Program& program) const override;
  Result<std::unique_ptr<backends::DeviceSession>> make_session() const override;

  std::byte* weights() const { return weights_.data(); }
  /// The kernel compiled from `source`: from the plan, else by NVRTC when it is there. Thread-safe.
  Result<cudaKernel_t> kernel(const std::string& source) const;

 private:
  explicit Device(const plan::Plan& plan) : plan_(plan) {}
  /// The two are called with mutex_ held, or before anyone else has the device.
  Result<cudaKernel_t> load(const std::string& source) const;
  void note(std::string text) const;

  const plan::Plan& plan_;
  cudaDeviceProp properties_{};
  int driver_version_ = 0;
  DeviceBuffer weights_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, cudaKernel_t> kernels_;
  mutable std::vector<cudaLibrary_t> libraries_;
  mutable std::vector<std::string> notes_;
};

}  // namespace tw::cuda
