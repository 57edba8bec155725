// device_case.h: tasks on the GPU against the same tasks on the CPU executor, which is the
// definition. A case is a Net (backends/cpu/conformance/net.h) of one or more tasks:
//   Net net(7); task.x.id = net.add(DType::kF16, {3, 70}); ... net.add_task(task);
//   expect_same_on_device(net, task.y.id, 2e-3);
#pragma once

#include "backends/cpu/conformance/net.h"

namespace tw::gpu {

/// The bytes of a result are `first`, which the first call sets. Without a GPU the kernels are
/// compiled only.
void expect_bits(cpu::Net& net, task::SlotId result, std::vector<std::byte>& first);

/// Runs the net on the CPU executor and on the device, there twice: every element of `result` is
/// within `tolerance` (times the larger of 1 and the magnitude) and the two device runs give equal
/// bits. Skips with a sentence where there is no GPU. Fails when a task has no CUDA form.
void expect_same_on_device(cpu::Net& net, task::SlotId result, double tolerance);

/// Whether there is a GPU to run on.
bool has_device();
/// What one more run on the device leaves in `result`, for comparisons of bits.
Result<std::vector<std::byte>> bytes_on_device(const cpu::Net& net, task::SlotId result);

/// What one run on the device says of indices that are out of range; empty: nothing.
std::string error_on_device(const cpu::Net& net);

/// Without a device: every task has launches, and each source compiles for sm_90a without spills.
/// Called by expect_same_on_device too.
void expect_compiles(const cpu::Net& net);

}  // namespace tw::gpu
