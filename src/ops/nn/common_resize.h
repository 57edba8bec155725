// common_resize.h: what resize's hooks share: its modes, output sizes and coordinates.
#pragma once

#include <optional>
#include <vector>

#include "ir/contexts.h"
#include "ops/nn/common_build.h"
#include "task/kinds.h"

namespace tw::ops {

struct ResizeModes {
  task::ResizeTask::Kind kind{};
  task::ResizeTask::Coordinates coordinates{};
  task::ResizeTask::Nearest nearest{};
  double cubic_a = 0;
  bool exclude_outside = false;
};
/// Fails with a sentence for modes that are not supported.
Result<ResizeModes> read_resize_modes(const ir::NodeView& view);

/// One entry a dim of x. Without scales the scale of a dim is output size / input size.
struct ResizeSizes {
  ir::Shape out;
  std::optional<std::vector<double>> scales;
};
/// The dims that scales and sizes speak of, counted from the front.
std::vector<int64_t> resize_axes(const ir::NodeView& view, size_t rank);
Result<ResizeSizes> resize_by_scales(const ir::NodeView& view, const ir::Shape& x,
                                     const std::vector<double>& scales);
Result<ResizeSizes> resize_by_sizes(const ir::NodeView& view, const ir::Shape& x,
                                    const std::vector<Dim>& sizes);

/// Where output element `o` lies among the input elements.
double resize_coordinate(task::ResizeTask::Coordinates mode, int64_t o, int64_t n_in, int64_t n_out,
                         double scale);
/// The input element that a coordinate takes; may lie outside.
int64_t nearest_index(task::ResizeTask::Nearest mode, double at);
/// The cubic convolution kernel at this distance.
double cubic_weight(double a, double distance);

}  // namespace tw::ops
