// conv_patch.h: convolutions of few channels (kernels/conv_patch.cuh).
#pragma once

#include "backends/cuda/tasks/gemm_launch.h"

namespace tw::cuda {

/// Whether the product, of a convolution's pixels x, is one for patches. It follows from the weight
/// and from how an image lies, not from how many images there are.
bool is_patch_product(const task::SlotInfo& x, const Product& product);
/// The sums' order is that of launch_product.
Result<std::vector<Launch>> launch_patches(const TaskView& view, const Product& product);

}  // namespace tw::cuda
