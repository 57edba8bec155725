#include "backends/cuda/tasks/gemm_operand.h"

#include <numeric>

namespace tw::cuda {
namespace {

struct Level {
  int64_t size, stride;
};

/// Dims that one stride runs through are one level; dims of size 1 have no say.
Result<std::vector<Level>> merged_levels(const std::vector<Level>& dims) {
  std::vector<Level> levels;
  for (const Level& dim : dims) {
    if (dim.size == 1) continue;
    if (!levels.empty() && levels.back().stride == dim.stride * dim.size)
      levels.back() = {levels.back().size * dim.size, dim.stride};
    else
      levels.push_back(dim);
  }
  // A repeated operand: one level of stride 0 is none.
  if (levels.size() == 1 && levels[0].stride == 0) levels.clear();
  if (levels.size() > kMaxLevels)
    return error(Code::kUnsupported, "rows of an operand have ", levels.size(),
                 " dims that do not merge, kernels know ", kMaxLevels);
  return levels;
}

}  // namespace

StridedView StridedView::of(const task::SlotInfo& slot) {
  StridedView view{slot.shape(), {}, slot.dtype, slot.offset_in_root()};
  for (int d = 0; d < slot.rank; ++d) view.strides.push_back(slot.strides[d]);
  return view;
}

int64_t MatrixDims::rows() const {
  int64_t n = 1;
  for (size_t d = n_batch; d + 1 < dims.size(); ++d) n *= dims[d];
  return n;
}

int64_t MatrixDims::batch() const {
  int64_t n = groups;
  for (size_t d = 0; d < n_batch; ++d) n *= dims[d];
  return n;
}

Result<MatrixOperand> matrix_operand(const StridedView& view, const MatrixDims& result) {
  const size_t rank = result.dims.size(), missing = rank - view.dims.size();
  const auto stride = [&](size_t d) {
    return d < missing || view.dims[d - missing] == 1 ? 0 : view.strides[d - missing];
  };
  MatrixOperand operand;
  OperandParams& p = operand.params;
  const int64_t size = size_bytes(view.dtype);
  int64_t alignment = std::gcd(int64_t{64}, view.offset_bytes);
  p.col_stride = stride(rank - 1);
  if (result.groups > 1) {
    p.batch_strides[0] = p.col_stride * result.cols();
    alignment = std::gcd(alignment, p.batch_strides[0] * size);
  }
  for (size_t d = 0; d < result.n_batch; ++d) {
    p.batch_strides[d] = stride(d);
    if (result.dims[d] > 1) alignment = std::gcd(alignment, stride(d) * size);
  }
  std::vector<Level> dims;
  for (size_t d = result.n_batch; d + 1 < rank; ++d) dims.push_back({result.dims[d], stride(d)});
  const std::vector<Level> levels = TRY(merged_levels(dims));
  for (size_t i = 0; i < levels.size(); ++i) {
    p.sizes[i] = static_cast<int>(levels[i].size);
    p.strides[i] = levels[i].stride;
    alignment = std::gcd(alignment, levels[i].stride * size);
  }
  operand.levels = static_cast<int>(levels.size());
  operand.elems_aligned = std::max<int64_t>(1, alignment / size);
  return operand;
}

}  // namespace tw::cuda
