// devices.h: the backends with devices that this build has.
#pragma once

#include "backends/device/device.h"

namespace tw::runtime {

/// Null for plans of the CPU. Fails when the plan's device is not here, saying wanted and found.
Result<std::unique_ptr<backends::Device>> open_device(const plan::Plan& plan);

/// Whether plans of devices can run in this build at all.
bool has_cuda();

}  // namespace tw::runtime
