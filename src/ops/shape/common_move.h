// common_move.h: ops that only move elements. Where each element comes from is stated once an op
// and serves both the reference (bytes of tensors) and inference (known integers on their way from
// Shape to Reshape).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fixed_list.h"
#include "base/tensor.h"
#include "ir/contexts.h"

namespace tw::ops {

/// Elements of a row-major tensor: coordinate (i, j, ..) is element offset + i * strides[0] + j *
/// strides[1] + ...
struct StridedView {
  Dims dims, strides;
  int64_t offset = 0;
};
/// The whole tensor.
StridedView whole_view(const Dims& dims);
StridedView permuted(const StridedView& view, const std::vector<int64_t>& permutation);
/// Coordinates start, start + step, .. of one axis.
StridedView sliced(const StridedView& view, size_t axis, int64_t start, int64_t count,
                   int64_t step = 1);
/// As numpy broadcasts: strides of 0, leading dims added.
StridedView broadcast_to(const StridedView& view, const Dims& dims);

/// visit(coordinate, i) for each coordinate of `dims` in row-major order; i counts them.
template <class Visit>
void for_each_coordinate(const Dims& dims, Visit visit) {
  const int64_t count = element_count(dims);
  Dims at = dims;
  for (int64_t& x : at) x = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(static_cast<const Dims&>(at), i);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
}

/// visit(i, element) for each coordinate of the view in row-major order; i counts them.
template <class Visit>
void for_each_element(const StridedView& view, Visit visit) {
  for_each_coordinate(view.dims, [&](const Dims& at, int64_t i) {
    int64_t element = view.offset;
    for (size_t d = 0; d < at.size(); ++d) element += at[d] * view.strides[d];
    visit(i, element);
  });
}

/// to[to_i .. + count) = from[from_i .. + count), element for element; the types agree.
void copy_elements(const Tensor& from, int64_t from_i, Tensor& to, int64_t to_i, int64_t count = 1);
/// y, whose dims are the view's, becomes the elements of x that the view names.
void copy_view(const Tensor& x, const StridedView& view, Tensor& y);

/// The elements of an integer input as far as shapes determine them, those of small constants of
/// any rank included.
std::optional<std::vector<Dim>> known_elements(const ir::InferContext& c, size_t i);
/// The dims as numbers when the tensor is small enough for its elements to be tracked.
std::optional<Dims> small_dims(const ir::Shape& shape);
/// Where input 0 is known and `y` is small, output `i` is the view of it that make(dims of input 0)
/// gives.
template <class Make>
void move_known(ir::InferContext& c, size_t i, const ir::Shape& y, Make make) {
  const auto known = known_elements(c, 0);
  const auto from = ir::concrete(c.shape(0));
  if (!known || !from || !small_dims(y)) return;
  std::vector<Dim> moved;
  for_each_element(make(*from), [&](int64_t, int64_t element) {
    moved.push_back((*known)[static_cast<size_t>(element)]);
  });
  c.out_ints(i, std::move(moved));
}
/// Where input 0 is known, output 0 has the same elements in the same order.
void keep_known(ir::InferContext& c);

}  // namespace tw::ops
