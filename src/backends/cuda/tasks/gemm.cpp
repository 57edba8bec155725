// gemm: rows of the result are all its dims but the last when b is one matrix; else the dims in
// front of the last two are a batch of products.
#include "backends/cuda/tasks/gemm_launch.h"
#include "backends/cuda/tasks/stream.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

/// b as [.., n, k]; packed weights are rows along K, padded to multiples of 16 bytes.
StridedView rows_of_b(const task::GemmTask& task, const task::SlotInfo& slot) {
  StridedView b = StridedView::of(slot);
  const size_t row = b.dims.size() - 2, col = row + 1;
  if (task.transpose_b == 0) {
    std::swap(b.dims[row], b.dims[col]);
    std::swap(b.strides[row], b.strides[col]);
  }
  if (slot.layout == task::Layout::kPanels) {
    const int64_t elems = 16 / size_bytes(slot.dtype);
    b.strides[row] = (b.dims[col] + elems - 1) / elems * elems;
    b.strides[col] = 1;
  }
  return b;
}

/// The dims of a product's side: those of the result, with its own last two.
MatrixDims side_dims(const MatrixDims& result, int64_t rows, int64_t cols) {
  MatrixDims side = result;
  side.dims[side.dims.size() - 2] = rows;
  side.dims[side.dims.size() - 1] = cols;
  return side;
}

Result<ProductOperand> operand(task::SlotId slot, const StridedView& view, const MatrixDims& dims) {
  ProductOperand side;
  side.slot = slot;
  side.matrix = TRY(matrix_operand(view, dims));
  side.loader = row_loader(side.matrix, view.dtype);
  const OperandParams& p = side.matrix.params;
  const int64_t row_stride = side.matrix.levels > 0 ? p.strides[side.matrix.levels - 1] : 0;
  side.along_rows = std::abs(row_stride) < std::abs(p.col_stride);
  return side;
}

}  // namespace

Launches launch_task(const task::GemmTask& task, const TaskView& view) {
  const task::SlotInfo &a = view.slot(task.a.id), &b = view.slot(task.b.id),
                       &c = view.slot(task.c.id);
  TRY(check_product_types(a.dtype, b.dtype));
  Product product;
  product.dtype = a.dtype;
  product.dims.dims = c.shape();
  for (int d = 0; d + 2 < b.rank; ++d)
    if (b.dims[d] > 1) product.dims.n_batch = c.rank - 2U;
  const StridedView b_rows = rows_of_b(task, b);
  product.k = b_rows.dims.back();
  product.a = TRY(operand(task.a.id, StridedView::of(a),
                          side_dims(product.dims, c.dims[c.rank - 2], product.k)));
  // One matrix: its rows are its own, whatever batch the result has.
  MatrixDims b_dims = side_dims(product.dims, c.dims[c.rank - 1], product.k);
  if (product.dims.n_batch == 0) b_dims.dims = {c.dims[c.rank - 1], product.k};
  StridedView b_view = b_rows;
  if (product.dims.n_batch == 0) {
    const size_t rank = b_rows.dims.size();
    b_view.dims = {b_rows.dims[rank - 2], b_rows.dims[rank - 1]};
    b_view.strides = {b_rows.strides[rank - 2], b_rows.strides[rank - 1]};
  }
  product.b = TRY(operand(task.b.id, b_view, b_dims));
  product.b.matrix.levels = 1;  // also where one row makes levels 0
  const int64_t rows = product.dims.rows(), cols = product.dims.cols();
  const int elem_bytes = static_cast<int>(size_bytes(a.dtype));
  product.many_rows = rows > kDecodeRows;
  if (b.immutable())
    product.n_slices = product.many_rows
                           ? slices(2 * kDecodeRows, cols, (product.k * elem_bytes + 127) / 128)
                           : decode_slices(cols, product.k, elem_bytes);
  product.alpha = task.alpha;
  product.epilogue = {task.c.id, task.bias.id, task.extra, task.epilogue};
  const uint8_t variant = view.record.variant;
  const bool as_stream = is_stream_variant(variant) ||
                         (variant == 0 && b.immutable() && streams(cols, product.k, elem_bytes));
  return as_stream && fits_stream(view, product) ? launch_stream(view, product)
                                                 : launch_product(view, product);
}

}  // namespace tw::cuda
