// conv_patch.h: convolutions of few channels (kernels/conv_patch.cuh).
#pragma once

#include "backends/cuda/tasks/gemm_launch.h"

namespace tw::cuda {

/// Whether the product, of a convolution's pixels x, can be one for patches. It follows from the
/// weight and from how an image lies, not from how many images there are.
bool fits_patches(const task::SlotInfo& x, const Product& product);
/// Of those that can: whether it is one unless something else was measured to be faster: taps too
/// small for asynchronous copies of 16 bytes, or one step of K, which leaves a ring nothing to do.
bool is_patch_product(const Product& product);
/// Record::variant: those behind the tiles of other products ask for patches, where they fit.
bool is_patch_variant(uint8_t variant);
/// The last of them.
int last_patch_variant();
/// The sums' order is that of launch_product.
Result<std::vector<Launch>> launch_patches(const TaskView& view, const Product& product);

}  // namespace tw::cuda
