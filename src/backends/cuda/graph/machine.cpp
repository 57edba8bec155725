#include "backends/cuda/graph/machine.h"

#include <cuda_runtime_api.h>

namespace tw::cuda {

std::string cuda_version_text(int version) { return cat(version / 1000, ".", version % 1000 / 10); }

Machine find_machine() {
  Machine machine;
  const cudaError_t status = cudaGetDeviceCount(&machine.n_devices);
  cudaDriverGetVersion(&machine.driver);
  if (status != cudaSuccess) {
    machine.n_devices = 0;
    machine.reason = cudaGetErrorString(status);
    return machine;
  }
  cudaDeviceProp properties{};
  if (machine.n_devices == 0 || cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    machine.n_devices = 0;
    machine.reason = "no device";
    return machine;
  }
  machine.major = properties.major;
  machine.minor = properties.minor;
  machine.name = properties.name;
  return machine;
}

Result<void> check_machine(const Machine& machine, std::string_view target, int driver) {
  if (machine.driver > 0 && machine.driver < driver)
    return error(Code::kIncompatible, "the plan wants a driver for CUDA ",
                 cuda_version_text(driver), ", found one for CUDA ",
                 cuda_version_text(machine.driver));
  if (machine.n_devices == 0)
    return error(Code::kIncompatible, "the plan wants a GPU of '", target,
                 "', found none: ", machine.reason);
  const std::string found = cat("sm_", machine.major, machine.minor);
  if (found != target)
    return error(Code::kIncompatible, "the plan wants a GPU of '", target, "', found '", found,
                 "' (", machine.name, ")");
  return {};
}

}  // namespace tw::cuda
