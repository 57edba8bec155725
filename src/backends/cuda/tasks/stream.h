// stream.h: products of a few rows whose weight streams through rings (kernels/stream.cuh).
#pragma once

#include "backends/cuda/tasks/gemm_launch.h"

namespace tw::cuda {

/// Most rows of such a product.
inline constexpr int64_t kStreamRows = 16;

/// Whether the product can be one: f16 or bf16, one product of up to kStreamRows rows, both sides
/// rows along K. The order of its sums is that of launch_product.
bool fits_stream(const TaskView& view, const Product& product);
/// Record::variant of a gemm: those behind the tiles ask for a stream.
bool is_stream_variant(uint8_t variant);
/// The last variant that products of matrices have.
int last_stream_variant();
/// Of a product that fits_stream.
Result<std::vector<Launch>> launch_stream(const TaskView& view, const Product& product);

}  // namespace tw::cuda
