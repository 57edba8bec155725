#include "ops/nn/common_resize.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

using Task = task::ResizeTask;

template <class Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

template <class Enum>
Result<Enum> choose(const ir::NodeView& view, const char* attr,
                    std::span<const Choice<Enum>> choices) {
  const std::string found = view.attr_string(attr);
  std::string names;
  for (const Choice<Enum>& choice : choices) {
    if (choice.name == found) return choice.value;
    names += cat(names.empty() ? "" : ", ", choice.name);
  }
  return error(Code::kUnsupported, "attribute '", attr, "' is '", found, "', supported are ",
               names);
}

constexpr Choice<Task::Kind> kKinds[] = {{"nearest", Task::Kind::kNearest},
                                         {"linear", Task::Kind::kLinear},
                                         {"cubic", Task::Kind::kCubic}};
constexpr Choice<Task::Coordinates> kCoordinates[] = {
    {"half_pixel", Task::Coordinates::kHalfPixel},
    {"pytorch_half_pixel", Task::Coordinates::kPytorchHalfPixel},
    {"align_corners", Task::Coordinates::kAlignCorners},
    {"asymmetric", Task::Coordinates::kAsymmetric},
    {"half_pixel_symmetric", Task::Coordinates::kHalfPixelSymmetric}};
constexpr Choice<Task::Nearest> kNearest[] = {
    {"round_prefer_floor", Task::Nearest::kRoundPreferFloor},
    {"round_prefer_ceil", Task::Nearest::kRoundPreferCeil},
    {"floor", Task::Nearest::kFloor},
    {"ceil", Task::Nearest::kCeil}};

/// floor(dim * scale). A symbolic dim needs a scale of the form p / q with a small power of two
/// below the line.
Result<Dim> scaled_dim(const Dim& dim, double scale) {
  if (dim.is_constant())  // in f32, as scales are stated and as runtimes multiply
    return Dim(static_cast<int64_t>(
        std::floor(static_cast<float>(dim.constant()) * static_cast<float>(scale))));
  for (int64_t q = 1; q <= 64; q *= 2) {
    const double p = scale * static_cast<double>(q);
    if (p == std::floor(p)) return floor_div(dim * Dim(static_cast<int64_t>(p)), Dim(q));
  }
  return error(Code::kUnsupported, "a symbolic size ", dim, " times ", scale,
               ", expected a scale that is a fraction of a small power of two");
}

Result<void> expect_count(const ir::NodeView& view, const char* name, size_t found, size_t rank) {
  const size_t wanted = resize_axes(view, rank).size();
  if (found == wanted) return {};
  return error(Code::kInvalidModel, "input '", name, "' has ", found, " numbers, expected ",
               wanted);
}

/// not_larger and not_smaller: one scale for all axes, the smallest or the largest that the sizes
/// ask for.
Result<ResizeSizes> keep_aspect(const ir::Shape& x, const std::vector<int64_t>& axes,
                                const std::vector<Dim>& sizes, bool not_larger) {
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& dim = x[static_cast<size_t>(axes[i])];
    if (!dim.is_constant() || !sizes[i].is_constant() || dim.constant() == 0)
      return error(Code::kUnsupported, "attribute 'keep_aspect_ratio_policy' with a size of ", dim,
                   " to ", sizes[i]);
    const double scale =
        static_cast<double>(sizes[i].constant()) / static_cast<double>(dim.constant());
    common = i == 0 ? scale : not_larger ? std::min(common, scale) : std::max(common, scale);
  }
  ResizeSizes result{x, std::vector<double>(x.size(), 1.0)};
  for (const int64_t axis : axes) {
    const auto at = static_cast<size_t>(axis);
    (*result.scales)[at] = common;
    result.out[at] =
        Dim(static_cast<int64_t>(std::floor(common * static_cast<double>(x[at].constant()) + 0.5)));
  }
  return result;
}

}  // namespace

Result<ResizeModes> read_resize_modes(const ir::NodeView& view) {
  TRY(expect_attr(view, "antialias", 0));
  ResizeModes modes;
  modes.kind = TRY(choose<Task::Kind>(view, "mode", kKinds));
  modes.coordinates =
      TRY(choose<Task::Coordinates>(view, "coordinate_transformation_mode", kCoordinates));
  modes.nearest = TRY(choose<Task::Nearest>(view, "nearest_mode", kNearest));
  modes.cubic_a = view.attr_float("cubic_coeff_a");
  modes.exclude_outside = view.attr_int("exclude_outside") != 0;
  return modes;
}

std::vector<int64_t> resize_axes(const ir::NodeView& view, size_t rank) {
  std::vector<int64_t> axes = view.attr_ints("axes");
  if (axes.empty()) return iota(rank);
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  return axes;
}

Result<ResizeSizes> resize_by_scales(const ir::NodeView& view, const ir::Shape& x,
                                     const std::vector<double>& scales) {
  TRY(expect_count(view, "scales", scales.size(), x.size()));
  const std::vector<int64_t> axes = resize_axes(view, x.size());
  ResizeSizes result{x, std::vector<double>(x.size(), 1.0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<size_t>(axes[i]);
    if (at >= x.size())
      return error(Code::kInvalidModel, "attribute 'axes' holds ", axes[i], " for rank ", x.size());
    if (!(scales[i] > 0))
      return error(Code::kInvalidModel, "'scales' holds ", scales[i], ", expected more than 0");
    (*result.scales)[at] = scales[i];
    result.out[at] = TRY(scaled_dim(x[at], scales[i]));
  }
  return result;
}

Result<ResizeSizes> resize_by_sizes(const ir::NodeView& view, const ir::Shape& x,
                                    const std::vector<Dim>& sizes) {
  TRY(expect_count(view, "sizes", sizes.size(), x.size()));
  const std::vector<int64_t> axes = resize_axes(view, x.size());
  for (const int64_t axis : axes)
    if (axis < 0 || axis >= static_cast<int64_t>(x.size()))
      return error(Code::kInvalidModel, "attribute 'axes' holds ", axis, " for rank ", x.size());
  const std::string policy = view.attr_string("keep_aspect_ratio_policy");
  if (policy == "not_larger" || policy == "not_smaller")
    return keep_aspect(x, axes, sizes, policy == "not_larger");
  if (policy != "stretch")
    return error(Code::kInvalidModel, "attribute 'keep_aspect_ratio_policy' is '", policy,
                 "', expected stretch, not_larger or not_smaller");
  ResizeSizes result{x, std::nullopt};
  for (size_t i = 0; i < axes.size(); ++i) result.out[static_cast<size_t>(axes[i])] = sizes[i];
  return result;
}

double resize_coordinate(Task::Coordinates mode, int64_t o, int64_t n_in, int64_t n_out,
                         double scale) {
  const auto at = static_cast<double>(o), in = static_cast<double>(n_in);
  const double stated_out =
      scale * in;  // the specification divides by this, not by the whole number of elements
  switch (mode) {
    case Task::Coordinates::kAsymmetric:
      return at / scale;
    case Task::Coordinates::kAlignCorners:
      return stated_out == 1 ? 0 : at * (in - 1) / (stated_out - 1);
    case Task::Coordinates::kPytorchHalfPixel:
      return n_out == 1 ? 0 : (at + 0.5) / scale - 0.5;
    case Task::Coordinates::kHalfPixelSymmetric:
      return in / 2 * (1 - static_cast<double>(n_out) / stated_out) + (at + 0.5) / scale - 0.5;
    case Task::Coordinates::kHalfPixel:
      break;
  }
  return (at + 0.5) / scale - 0.5;
}

int64_t nearest_index(Task::Nearest mode, double at) {
  switch (mode) {
    case Task::Nearest::kFloor:
      return static_cast<int64_t>(std::floor(at));
    case Task::Nearest::kCeil:
      return static_cast<int64_t>(std::ceil(at));
    case Task::Nearest::kRoundPreferCeil:
      return static_cast<int64_t>(std::floor(at + 0.5));
    case Task::Nearest::kRoundPreferFloor:
      break;
  }
  return static_cast<int64_t>(std::ceil(at - 0.5));
}

double cubic_weight(double a, double distance) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

}  // namespace tw::ops
