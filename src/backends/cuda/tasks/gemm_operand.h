// gemm_operand.h: slots as matrices, the way the kernels of kernels/gemm.cuh address them.
#pragma once

#include "backends/cuda/kernels/gemm_params.h"
#include "backends/cuda/launch.h"

namespace tw::cuda {

/// Dims and strides of a slot, or of a slot looked at another way.
struct StridedView {
  Dims dims, strides;
  DType dtype = DType::kF32;
  int64_t offset_bytes = 0;  // from its root, which is aligned to 64 bytes

  static StridedView of(const task::SlotInfo& slot);
};

/// How the dims of a result are dealt out: the first `n_batch` are the batch, the last is the
/// columns, the others are the rows. `groups` cuts the columns into that many parts, which are then
/// the batch (n_batch is 0).
struct MatrixDims {
  Dims dims;
  size_t n_batch = 0;
  int64_t groups = 1;

  int64_t rows() const;
  int64_t cols() const { return dims.back() / groups; }
  int64_t batch() const;
  int batch_dims() const { return groups > 1 ? 1 : static_cast<int>(n_batch); }
};

struct MatrixOperand {
  OperandParams params{};
  int levels = 0;             // of its rows: 0: all rows are the same
  int64_t elems_aligned = 1;  // every row of every batch starts at a multiple of so many elements
};

/// `view`, repeated to `result`'s dims as numpy does. Fails with a sentence when its rows have more
/// levels than kernels know.
Result<MatrixOperand> matrix_operand(const StridedView& view, const MatrixDims& result);

}  // namespace tw::cuda
