// machine.h: whether the GPU of this machine is the one that a plan was made for.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tw::cuda {

/// What CUDA says of the machine.
struct Machine {
  int driver = 0;  // 1000 * major + 10 * minor of CUDA; 0: no driver
  int n_devices = 0;
  std::string reason;        // why there is no device
  int major = 0, minor = 0;  // of device 0
  std::string name;
};

/// Of this process. Never fails: what went wrong is in `reason`.
Machine find_machine();

/// Fails with kIncompatible and a sentence that says what was wanted, GPU `target` ("sm_90") and at
/// least the driver `driver`, and what was found.
Result<void> check_machine(const Machine& machine, std::string_view target, int driver);

/// "13.0"
std::string cuda_version_text(int version);

}  // namespace tw::cuda
