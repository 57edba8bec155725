// submit.h: a launch on its way to a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "backends/cuda/launch.h"

namespace tw::cuda {

/// Where the element of a slot with all coordinates 0 is on the device.
using AddressOf = std::function<std::byte*(task::SlotId)>;

/// Fills in addresses and tensor maps and enqueues the launch, or records it where the stream is
/// captured. `overlaps`: it may start before the kernel in front of it is complete. `fault`: an
/// IndexFault on the device; null where indices are good.
Result<void> submit(const Launch& launch, cudaKernel_t kernel, cudaStream_t stream, bool overlaps,
                    std::byte* fault, const AddressOf& address_of);

}  // namespace tw::cuda
