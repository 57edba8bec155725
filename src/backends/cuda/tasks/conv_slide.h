// conv_slide.h: convolutions whose taps share one patch of the image (kernels/conv_slide.cuh).
#pragma once

#include "backends/cuda/tasks/gemm_launch.h"

namespace tw::cuda {

/// Whether the product, of a convolution's pixels x, can be one of sliding windows: of steps of one
/// pixel, channels in whole steps of 16, and the variant's tile has room for a patch. The sums'
/// order is that of launch_product.
bool fits_slides(const TaskView& view, const Product& product);
/// Of those that can: whether it is one unless something else was measured to be faster: few output
/// channels and no slices. Boxes of a tap each would bring every pixel once a tap for them.
bool is_slide_product(const Product& product);
/// Record::variant: those behind patches (conv_patch.h) ask for sliding windows, a tile each.
bool is_slide_variant(uint8_t variant);
/// The last variant that convolutions have.
int last_slide_variant();
/// Of a product that fits_slides.
Result<std::vector<Launch>> launch_slides(const TaskView& view, const Product& product);

}  // namespace tw::cuda
