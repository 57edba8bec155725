// gemm_boxes.h: operands of a product that the tensor memory accelerator can bring
// (kernels/gemm_tiles.cuh).
#pragma once

#include <optional>

#include "backends/cuda/tasks/gemm_launch.h"

namespace tw::cuda {

struct ProductBoxes {
  TensorBoxes a, b;
  bool window = false;  // a: pixels of a convolution; else rows
};

/// Rows along K at one stride, as boxes of a tile's rows, where they can be.
std::optional<TensorBoxes> rows_along_k(const Product& product, const ProductOperand& operand,
                                        int64_t n_rows, int tile_rows);
/// Both sides as boxes of the tile's rows and columns, where both can be: f16 or bf16, one product,
/// rows along K at one stride, or images channels last with whole multiples of 64 channels.
std::optional<ProductBoxes> product_boxes(const TaskView& view, const Product& product,
                                          const TileConfig& tile);

/// Whether there are boxes for a tile of warpgroups.
bool may_have_boxes(const TaskView& view, const Product& product);

}  // namespace tw::cuda
