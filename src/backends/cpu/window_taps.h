// window_taps.h: the sliding windows of conv and pool: which input pixel each tap of each output
// pixel reads, as the pointer tables that the kernels take. One to three spatial dims; missing ones
// count as 1.
#pragma once

#include <array>
#include <cstdint>

#include "task/slot.h"

namespace tw::cpu {

struct WindowTaps {
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1};
  std::array<int64_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{0, 0, 0};
  std::array<int64_t, 3> x_stride{0, 0, 0};  // elements between input pixels

  /// Of a task with fields kernel, stride, dilation and pad, for x and y [n, s.., c].
  template <class Task>
  WindowTaps(const Task& task, const task::SlotInfo& x, const task::SlotInfo& y) {
    for (size_t d = 0; d + 2 < x.rank; ++d) {
      in[d] = x.dims[d + 1];
      out[d] = y.dims[d + 1];
      kernel[d] = task.kernel[d];
      stride[d] = task.stride[d];
      dilation[d] = task.dilation[d];
      pad[d] = task.pad[d];
      x_stride[d] = x.strides[d + 1];
    }
  }

  int64_t n_taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Output pixels behind one coordinate of the first spatial dim.
  int64_t row_pixels() const { return out[1] * out[2]; }
  /// One tap, at the output's own place.
  bool is_pointwise() const;

  /// Rows of the input's first spatial dim that output rows [begin, end) read: [first, last).
  void input_rows(int64_t begin, int64_t end, int64_t& first, int64_t& last) const;

  /// table[tap * pixels + p] = the input pixel of tap `tap` of pixel p of output rows [begin, end),
  /// or `padding`. `image` is the pixel 0, 0, 0.
  void pointers(const float* image, int64_t begin, int64_t end, const float* padding,
                const float** table) const;

  /// visit(tap, input offset in elements) for each tap of one output pixel that lies inside.
  template <class Visit>
  void for_each_tap(const std::array<int64_t, 3>& o, Visit&& visit) const {
    int64_t tap = 0;
    for (int64_t a = 0; a < kernel[0]; ++a) {
      for (int64_t b = 0; b < kernel[1]; ++b) {
        for (int64_t c = 0; c < kernel[2]; ++c, ++tap) {
          const std::array<int64_t, 3> i = {source(0, o[0], a), source(1, o[1], b),
                                            source(2, o[2], c)};
          if (!inside(0, i[0]) || !inside(1, i[1]) || !inside(2, i[2])) continue;
          visit(tap, i[0] * x_stride[0] + i[1] * x_stride[1] + i[2] * x_stride[2]);
        }
      }
    }
  }

  int64_t source(size_t d, int64_t o, int64_t tap) const {
    return o * stride[d] - pad[d] + tap * dilation[d];
  }
  bool inside(size_t d, int64_t i) const { return i >= 0 && i < in[d]; }
};

}  // namespace tw::cpu
