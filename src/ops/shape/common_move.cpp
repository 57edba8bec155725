#include "ops/shape/common_move.h"

#include <cstring>

namespace tw::ops {
namespace {

constexpr int64_t kMaxTracked = 64;  // lists of dims are short; anything longer is data

}  // namespace

StridedView whole_view(const Dims& dims) {
  StridedView view{dims, dims, 0};
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    view.strides[d] = stride;
    stride *= dims[d];
  }
  return view;
}

StridedView permuted(const StridedView& view, const std::vector<int64_t>& permutation) {
  StridedView to{{}, {}, view.offset};
  for (const int64_t d : permutation) {
    to.dims.push_back(view.dims[static_cast<size_t>(d)]);
    to.strides.push_back(view.strides[static_cast<size_t>(d)]);
  }
  return to;
}

StridedView sliced(const StridedView& view, size_t axis, int64_t start, int64_t count,
                   int64_t step) {
  StridedView to = view;
  to.offset += start * to.strides[axis];
  to.dims[axis] = count;
  to.strides[axis] *= step;
  return to;
}

StridedView broadcast_to(const StridedView& view, const Dims& dims) {
  StridedView to{dims, dims, view.offset};
  const size_t n_added = dims.size() - view.dims.size();
  for (size_t d = 0; d < dims.size(); ++d)
    to.strides[d] = d < n_added || view.dims[d - n_added] == 1 ? 0 : view.strides[d - n_added];
  return to;
}

void copy_elements(const Tensor& from, int64_t from_i, Tensor& to, int64_t to_i, int64_t count) {
  const int64_t size = size_bytes(from.dtype());
  if (count > 0)
    std::memcpy(to.mutable_data() + to_i * size, from.data() + from_i * size,
                static_cast<size_t>(count * size));
}

void copy_view(const Tensor& x, const StridedView& view, Tensor& y) {
  for_each_element(view, [&](int64_t i, int64_t element) { copy_elements(x, element, y, i); });
}

std::optional<std::vector<Dim>> known_elements(const ir::InferContext& c, size_t i) {
  if (const auto* known = c.ints(i)) return *known;
  const Tensor* tensor = c.constant(i);
  if (tensor == nullptr || is_float(tensor->dtype()) || tensor->count() > kMaxTracked)
    return std::nullopt;
  std::vector<Dim> known;
  for (int64_t k = 0; k < tensor->count(); ++k) known.emplace_back(tensor->int_at(k));
  return known;
}

std::optional<Dims> small_dims(const ir::Shape& shape) {
  const auto dims = ir::concrete(shape);
  if (!dims) return std::nullopt;
  int64_t count = 1;
  for (const int64_t dim : *dims) {
    if (dim < 0 || dim > kMaxTracked) return std::nullopt;
    count *= dim;  // cannot overflow: a rank of at most 8, dims of at most 64
  }
  return count <= kMaxTracked ? dims : std::nullopt;
}

void keep_known(ir::InferContext& c) {
  if (auto known = known_elements(c, 0)) c.out_ints(0, std::move(*known));
}

}  // namespace tw::ops
