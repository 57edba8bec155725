// float_rows.h: any two-dimensional window as rows of f32, which is what the kernels take.
#pragma once

#include "backends/cpu/lanes.h"
#include "backends/cpu/window.h"

namespace tw::cpu {

/// rows x cols elements in memory, strides in bytes.
struct Plane {
  std::byte* data = nullptr;
  DType dtype = DType::kF32;
  int64_t rows = 0, cols = 0;
  int64_t row_stride = 0, col_stride = 0;
};

/// The last two dims of a window whose other dims are 1.
inline Plane plane_of(const Window& w) {
  return {w.data, w.dtype, w.back_dim(1), w.back_dim(0), w.back_stride(1), w.back_stride(0)};
}

/// Rows of contiguous elements in a lane, `ld` elements apart.
template <class Lane>
struct Rows {
  const Lane* data = nullptr;
  int64_t ld = 0;
};

/// The plane itself when it is stored in the lane with columns side by side, else a copy in
/// `scratch`.
template <class Lane>
Rows<Lane> rows_of(const Kernels& kernels, Scratch& scratch, const Plane& plane) {
  const auto element = static_cast<int64_t>(sizeof(Lane));
  if (is_lane<Lane>(plane.dtype) && (plane.col_stride == element || plane.cols == 1)) {
    return {reinterpret_cast<const Lane*>(plane.data), plane.row_stride / element};
  }
  Lane* copy = scratch.take<Lane>(plane.rows * plane.cols);
  for (int64_t r = 0; r < plane.rows; ++r) {
    load_lane(kernels, plane.dtype, plane.data + r * plane.row_stride, plane.col_stride, plane.cols,
              copy + r * plane.cols);
  }
  return {copy, plane.cols};
}

/// A vector operand (bias, scale) as contiguous elements of a lane; null when it is absent.
template <class Lane = float>
const Lane* vector_of(const TaskContext& context, task::SlotId id) {
  if (id == task::kNoSlot) return nullptr;
  const Window w = whole_window(context, id);
  const bool is_scalar = w.dims.empty();
  const Plane plane{
      w.data, w.dtype, 1, is_scalar ? 1 : w.back_dim(0), 0, is_scalar ? 0 : w.back_stride(0)};
  return rows_of<Lane>(*context.kernels, *context.scratch, plane).data;
}

/// Where rows of f32 results go: straight into the plane when it can hold them, else into scratch
/// and from there by store().
struct FloatResult {
  float* data = nullptr;
  int64_t ld = 0;
  bool is_copy = false;

  FloatResult(Scratch& scratch, const Plane& plane) {
    if (plane.dtype == DType::kF32 && (plane.col_stride == 4 || plane.cols == 1)) {
      data = reinterpret_cast<float*>(plane.data);
      ld = plane.row_stride / 4;
    } else {
      data = scratch.take<float>(plane.rows * plane.cols);
      ld = plane.cols;
      is_copy = true;
    }
  }
  void store(const Kernels& kernels, const Plane& plane) const {
    if (!is_copy) return;
    for (int64_t r = 0; r < plane.rows; ++r) {
      store_lane(kernels, plane.dtype, data + r * ld, plane.cols, plane.data + r * plane.row_stride,
                 plane.col_stride);
    }
  }
};

}  // namespace tw::cpu
