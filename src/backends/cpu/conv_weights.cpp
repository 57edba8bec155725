#include "backends/cpu/conv_weights.h"

#include <vector>

#include "backends/cpu/lanes.h"

namespace tw::cpu {

ConvShape::ConvShape(const Dims& w, int64_t n_groups)
    : co(w[0]), ci_per_group(w[1]), groups(n_groups) {
  for (size_t d = 2; d < w.size(); ++d) n_taps *= w[d];
}

int64_t ConvShape::group_elems(const Kernels& kernels) const {
  return kernels.packed_b_elems(n_taps * ci_per_group, co_per_group());
}

int64_t ConvShape::packed_elems(const Kernels& kernels) const {
  return is_depthwise() ? n_taps * co : groups * group_elems(kernels);
}

void pack_conv_weights(const Kernels& kernels, const Window& w, const ConvShape& shape,
                       float* packed) {
  // Row-major [co][ci][taps] first, whatever the strides and the type.
  std::vector<float> plain(static_cast<size_t>(w.count()));
  const LoopNest nest(w.dims, {&w, 1});
  const size_t last = nest.rank - 1;
  float* to = plain.data();
  nest.for_each(1, [&](const auto& at) {
    load_lane(kernels, w.dtype, at[0], nest.strides[0][last], nest.dims[last], to);
    to += nest.dims[last];
  });
  const int64_t n_taps = shape.n_taps, ci = shape.ci_per_group, co = shape.co_per_group();
  if (shape.is_depthwise()) {
    for (int64_t c = 0; c < shape.co; ++c) {
      for (int64_t t = 0; t < n_taps; ++t)
        packed[t * shape.co + c] = plain[static_cast<size_t>(c * n_taps + t)];
    }
    return;
  }
  std::vector<float> matrix(static_cast<size_t>(n_taps * ci * co));  // [taps][ci][co]
  for (int64_t g = 0; g < shape.groups; ++g) {
    for (int64_t o = 0; o < co; ++o) {
      const float* from = plain.data() + (g * co + o) * ci * n_taps;
      for (int64_t i = 0; i < ci; ++i) {
        for (int64_t t = 0; t < n_taps; ++t)
          matrix[static_cast<size_t>((t * ci + i) * co + o)] = from[i * n_taps + t];
      }
    }
    kernels.pack_b(matrix.data(), co, 1, n_taps * ci, co, packed + g * shape.group_elems(kernels));
  }
}

}  // namespace tw::cpu
