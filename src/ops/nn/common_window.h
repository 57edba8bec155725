// common_window.h: sliding windows of convolutions and pools: ONNX's strides, dilations, pads and
// auto_pad made plain, and the two layouts: "nchw" has channels on axis 1, "nhwc" has them last.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/contexts.h"
#include "ops/lower.h"

namespace tw::ops {

/// One entry a spatial dim. Pads are expressions only where auto_pad depends on symbolic sizes.
struct Window {
  std::vector<int64_t> kernel, stride, dilation;
  std::vector<Dim> pad_begin, pad_end;
  bool ceil_mode = false;
  /// Elements from a window's first tap to its last, both counted.
  int64_t reach(size_t d) const { return (kernel[d] - 1) * dilation[d] + 1; }
};

/// Reads strides, dilations, pads and auto_pad of a node with this kernel on these spatial dims.
Result<Window> read_window(const ir::NodeView& view, const std::vector<int64_t>& kernel,
                           const ir::Shape& spatial, bool ceil_mode = false);
/// How many windows there are along each spatial dim; fails where a kernel is larger than its
/// padded input.
Result<ir::Shape> window_counts(const Window& window, const ir::Shape& spatial);

/// A window on concrete dims, brought to three spatial dims by leading ones, for references.
struct Geometry {
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1},
      dilation{1, 1, 1};
  std::array<int64_t, 3> pad{}, pad_end{};
  int64_t in_count() const { return in[0] * in[1] * in[2]; }
  int64_t out_count() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};
Geometry concrete_geometry(const Window& window, const Dims& in_spatial, const Dims& out_spatial);

/// What the window fields of tasks look like.
using TaskSizes = std::array<int16_t, 3>;
/// Copies into a task's field; a sentence when a number is symbolic or too large.
Result<void> set_sizes(TaskSizes& to, const std::vector<int64_t>& from, const char* what);
Result<void> set_sizes(TaskSizes& to, const std::vector<Dim>& from, const char* what);

/// Whether attribute `layout` says "nhwc"; anything but "nchw" and "nhwc" is an error.
Result<bool> channels_last(const ir::NodeView& view);
size_t channel_axis(size_t rank, bool last);
ir::Shape spatial_dims(const ir::Shape& shape, bool last);
Dims spatial_dims(const Dims& dims, bool last);
/// A shape of `batch`, `channels` and `spatial` in this layout.
ir::Shape image_shape(const Dim& batch, const Dim& channels, const ir::Shape& spatial, bool last);

/// The elements of an image tensor as [n, c, spatial..], whatever its layout; and back.
std::vector<double> to_planes(const Tensor& x, bool last);
void from_planes(const std::vector<double>& planes, Tensor& y, bool last);

/// Dims of [n, c, s..] in the order of [n, s.., c], or the other way round.
std::vector<int64_t> layout_permutation(size_t rank, bool to_last);
/// The same op in the other layout between transposes: what a "nchw" node becomes before lowering,
/// and what a "nhwc" one means. `attrs` are the node's as they read in the other layout.
Result<void> decompose_to_other_layout(ir::DecomposeContext& c, ir::Attrs attrs);
Result<void> decompose_to_other_layout(ir::DecomposeContext& c);
/// For `lower`: the sentence of a node that is still "nchw".
Result<void> expect_channels_last(const ir::NodeView& view);

}  // namespace tw::ops
