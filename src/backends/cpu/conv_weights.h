// conv_weights.h: convolution weights as the kernels want them, which is also how plans store them
// (Layout::kPanels). Depthwise (one channel a group, in and out): [taps][channels]. Otherwise: for
// each group the panels of a [taps * channels in, channels out] matrix.
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/window.h"

namespace tw::cpu {

struct ConvShape {
  int64_t co = 0, ci_per_group = 0, n_taps = 1, groups = 1;

  /// From the weight's logical dims [co, ci / groups, taps..].
  ConvShape(const Dims& w, int64_t n_groups);
  int64_t co_per_group() const { return co / groups; }
  bool is_depthwise() const { return ci_per_group == 1 && co == groups; }
  /// Elements of one group's panels.
  int64_t group_elems(const Kernels& kernels) const;
  int64_t packed_elems(const Kernels& kernels) const;
};

/// Packs `w` (any float type, any strides) into packed_elems() floats.
void pack_conv_weights(const Kernels& kernels, const Window& w, const ConvShape& shape,
                       float* packed);

}  // namespace tw::cpu
