// pack.h: weights as CPU plans store them (task::Layout::kPanels): in the panels of one instruction
// set.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/isa.h"
#include "base/tensor.h"

namespace tw::cpu {

struct PackedWeight {
  std::vector<std::byte> bytes;
};

/// The right side of a matrix product: b is [K, N], or [N, K] when `transposed`. Fails with a
/// sentence for what has no packed form (anything but two dims of f32).
Result<PackedWeight> pack_gemm_b(const Tensor& b, bool transposed, Isa isa);

/// A convolution's weight [channels out, channels in / groups, taps..]; depthwise convolutions (one
/// channel in and out a group) get [taps][channels]. Fails with a sentence for what has no packed
/// form (anything but f32, or groups that do not divide the channels).
Result<PackedWeight> pack_conv_w(const Tensor& w, int64_t groups, Isa isa);

}  // namespace tw::cpu
