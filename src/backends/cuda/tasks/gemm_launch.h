// gemm_launch.h: the launch of a product of two matrices, whichever task it stands for.
#pragma once

#include "backends/cuda/codegen/epilogue.h"
#include "backends/cuda/tasks/gemm_config.h"

namespace tw::cuda {

/// One side of a product: how its tiles come into shared memory (kernels/gemm_loaders.cuh).
struct ProductOperand {
  enum class Loader : uint8_t {
    kRows,     // along K without gaps, 16-byte aligned
    kStrided,  // element by element
    kWindow,   // pixels of a convolution, channels in whole units of `unit` bytes (conv.cuh)
    kWindowElements,
    kWeightElements,
  };
  Loader loader = Loader::kRows;
  task::SlotId slot = task::kNoSlot;
  MatrixOperand matrix;     // columns along K
  bool along_rows = false;  // kStrided: rows are closer together than elements
  int unit = 16;            // kWindow: an element, 4, 8 or 16

  bool is_window() const { return loader >= Loader::kWindow; }
  /// Elements pass through registers; else copies are asynchronous.
  bool gathers() const {
    return loader != Loader::kRows && (loader != Loader::kWindow || unit < 4);
  }
};

struct Product {
  DType dtype = DType::kF16;
  MatrixDims dims;  // of the result
  int64_t k = 0;
  int n_slices = 1;
  bool many_rows = false;  // of the class whose products are those of warpgroups
  ProductOperand a, b;
  WindowParams window{};
  float alpha = 1;
  EpilogueOperands epilogue;
};

/// f16, bf16 or f32 for both sides; a sentence otherwise.
Result<void> check_product_types(DType a, DType b);
/// kRows when the operand's elements allow it.
ProductOperand::Loader row_loader(const MatrixOperand& matrix, DType dtype);
/// The type of an operand's loader, for tiles of `tile_rows` (an expression of the kernel's text).
std::string loader_type(const ProductOperand& operand, DType dtype, std::string_view tile_rows);
/// Fails where indices would pass 32 bits.
Result<void> check_sizes(const Product& product);
/// What does not follow from the tiles. Addresses are null.
GemmParams<7> product_params(const TaskView& view, const Product& product);
/// No launch for an empty result.
Result<std::vector<Launch>> launch_product(const TaskView& view, const Product& product);

}  // namespace tw::cuda
