#include "backends/cpu/window_taps.h"

#include <algorithm>

namespace tw::cpu {

bool WindowTaps::is_pointwise() const {
  for (size_t d = 0; d < 3; ++d) {
    if (kernel[d] != 1 || stride[d] != 1 || pad[d] != 0 || in[d] != out[d]) return false;
  }
  return true;
}

void WindowTaps::input_rows(int64_t begin, int64_t end, int64_t& first, int64_t& last) const {
  first = std::clamp<int64_t>(source(0, begin, 0), 0, in[0]);
  last = std::clamp<int64_t>(source(0, end - 1, kernel[0] - 1) + 1, first, in[0]);
}

void WindowTaps::pointers(const float* image, int64_t begin, int64_t end, const float* padding,
                          const float** table) const {
  for (int64_t a = 0; a < kernel[0]; ++a) {
    for (int64_t b = 0; b < kernel[1]; ++b) {
      for (int64_t c = 0; c < kernel[2]; ++c) {
        // Along the last dim the taps inside the input are one run of output coordinates.
        const int64_t first = source(2, 0, c), step = stride[2];
        const int64_t low = std::min(out[2], first < 0 ? (-first + step - 1) / step : 0);
        const int64_t high = first < in[2] ? std::min(out[2], (in[2] - 1 - first) / step + 1) : 0;
        const int64_t pitch = step * x_stride[2];
        for (int64_t o0 = begin; o0 < end; ++o0) {
          const int64_t i0 = source(0, o0, a);
          for (int64_t o1 = 0; o1 < out[1]; ++o1, table += out[2]) {
            const int64_t i1 = source(1, o1, b);
            if (!inside(0, i0) || !inside(1, i1) || low >= high) {
              std::fill_n(table, out[2], padding);
              continue;
            }
            std::fill_n(table, low, padding);
            const float* at = image + i0 * x_stride[0] + i1 * x_stride[1] + first * x_stride[2];
            for (int64_t o2 = low; o2 < high; ++o2) table[o2] = at + o2 * pitch;
            std::fill_n(table + high, out[2] - high, padding);
          }
        }
      }
    }
  }
}

}  // namespace tw::cpu
