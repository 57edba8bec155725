// pack.h: weights as CUDA plans store them (task::Layout::kPanels): rows along K, in the weight's
// type, each padded with zeros to a multiple of 16 bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "base/tensor.h"

namespace tw::cuda {

/// The right side of a product, b [k, n] or [n, k] when `transposed`: [n][k padded]. Fails with a
/// sentence for what has no packed form (anything but two dims of f16, bf16 or f32).
Result<std::vector<std::byte>> pack_gemm_b(const Tensor& b, bool transposed);

/// A convolution's weight [co, ci / groups, taps..]: [co][taps * ci / groups padded], channels
/// fastest. With more than one group and ci / groups = 1 (depthwise): [taps][co], not padded.
Result<std::vector<std::byte>> pack_conv_w(const Tensor& w, int64_t groups);

}  // namespace tw::cuda
