// resize: ONNX Resize with scales or sizes, in any dims (tasks: the spatial ones of a channels-last
// image). Resampling is separable: an output element is a weighted sum of 1, 2 or 4 elements along
// each resized dim in turn.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_resize.h"
#include "ops/nn/common_values.h"
#include "ops/nn/common_window.h"

namespace tw::ops {
namespace {

Result<ResizeSizes> sizes_at_inference(const ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const bool has_scales = c.has(2) && !(c.rank(2) == 1 && c.shape(2)[0] == Dim(0));
  if (!has_scales) {
    const std::vector<Dim>* sizes = c.ints(3);
    if (!c.has(3)) return error(Code::kInvalidModel, "neither 'scales' nor 'sizes' is there");
    if (sizes == nullptr) return error(Code::kUnsupported, "'sizes' are known only from data");
    return resize_by_sizes(c, x, *sizes);
  }
  const Tensor* scales = c.constant(2);
  if (scales == nullptr) return error(Code::kUnsupported, "'scales' are known only from data");
  return resize_by_scales(c, x, to_doubles(*scales));
}

Result<void> infer(ir::InferContext& c) {
  TRY(read_resize_modes(c));
  TRY(channels_last(c));
  c.out(0, {c.in(0).dtype, TRY(sizes_at_inference(c)).out});
  return {};
}

/// One output element's share of an input element along one dim.
struct Tap {
  int64_t index;
  double weight;
};

/// The taps of coordinate `at` among `n_in` elements; elements outside stand for the nearest one,
/// or are left out.
std::vector<Tap> taps_at(const ResizeModes& modes, double at, int64_t n_in) {
  using Kind = task::ResizeTask::Kind;
  const auto inside = [&](int64_t i) { return std::clamp<int64_t>(i, 0, n_in - 1); };
  if (modes.kind == Kind::kNearest) return {{inside(nearest_index(modes.nearest, at)), 1.0}};
  const auto left = static_cast<int64_t>(std::floor(at));
  const double t = at - static_cast<double>(left);
  if (modes.kind == Kind::kLinear) return {{inside(left), 1 - t}, {inside(left + 1), t}};
  std::vector<Tap> taps;
  double sum = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t index = left - 1 + i;
    const bool counts = !modes.exclude_outside || (index >= 0 && index < n_in);
    const double weight = counts ? cubic_weight(modes.cubic_a, t + 1 - static_cast<double>(i)) : 0;
    taps.push_back({inside(index), weight});
    sum += weight;
  }
  if (modes.exclude_outside)
    for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

/// `values` of dims `dims` with dim `axis` resampled; `dims` follows.
std::vector<double> resample(const ResizeModes& modes, const std::vector<double>& values,
                             Dims& dims, size_t axis, int64_t n_out, double scale) {
  const int64_t n_in = dims[axis];
  int64_t n_outer = 1, n_inner = 1;
  for (size_t d = 0; d < axis; ++d) n_outer *= dims[d];
  for (size_t d = axis + 1; d < dims.size(); ++d) n_inner *= dims[d];
  dims[axis] = n_out;
  std::vector<double> out(static_cast<size_t>(n_outer * n_out * n_inner));
  for (int64_t o = 0; o < n_out; ++o) {
    const std::vector<Tap> taps =
        taps_at(modes, resize_coordinate(modes.coordinates, o, n_in, n_out, scale), n_in);
    for (int64_t outer = 0; outer < n_outer; ++outer) {
      double* const to = out.data() + (outer * n_out + o) * n_inner;
      for (const Tap& tap : taps) {
        const double* const from = values.data() + (outer * n_in + tap.index) * n_inner;
        for (int64_t i = 0; i < n_inner; ++i) to[i] += tap.weight * from[i];
      }
    }
  }
  return out;
}

Result<void> reference(ir::EvalContext& c) {
  const ResizeModes modes = TRY(read_resize_modes(c));
  Dims dims = c.in(0).dims();
  const ir::Shape x = ir::to_shape(dims);
  const bool has_scales = c.has(2) && c.in(2).count() != 0;
  std::vector<Dim> stated;
  for (int64_t i = 0; !has_scales && i < c.in(3).count(); ++i)
    stated.push_back(Dim(c.in(3).int_at(i)));
  const ResizeSizes sizes = has_scales ? TRY(resize_by_scales(c, x, to_doubles(c.in(2))))
                                       : TRY(resize_by_sizes(c, x, stated));
  std::vector<double> values = to_doubles(c.in(0));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t n_out = c.out(0).dims()[axis];
    const double scale = sizes.scales
                             ? (*sizes.scales)[axis]
                             : static_cast<double>(n_out) / static_cast<double>(dims[axis]);
    if (n_out == dims[axis] && scale == 1) continue;
    if (dims[axis] == 0)
      return error(Code::kInvalidModel, "dim ", axis, " of 'x' is 0 and cannot be resized");
    values = resample(modes, values, dims, axis, n_out, scale);
  }
  from_doubles(values, c.out(0));
  return {};
}

/// Scales and sizes keep their order: `axes` tells which dims they mean in the other layout.
Result<void> decompose(ir::DecomposeContext& c) {
  const bool last = TRY(channels_last(c));
  const size_t rank = c.type(0).shape.size();
  if (rank < 3) return error(Code::kUnsupported, "resize of rank ", rank, ", expected at least 3");
  const std::vector<int64_t> moved = layout_permutation(rank, !last);
  std::vector<int64_t> axes = resize_axes(c, rank);
  for (int64_t& axis : axes) axis = std::find(moved.begin(), moved.end(), axis) - moved.begin();
  ir::Attrs attrs = c.node().attrs;
  attrs["axes"] = axes;
  return decompose_to_other_layout(c, std::move(attrs));
}

Result<void> lower(LowerContext& c) {
  TRY(expect_channels_last(c));
  const ResizeModes modes = TRY(read_resize_modes(c));
  const ir::Shape &x = c.in_type(0).shape, &y = c.out_type(0).shape;
  const bool has_scales = c.in_constant(2) != nullptr && c.in_constant(2)->count() != 0;
  if (x.size() < 3 || x.size() > 5)
    return error(Code::kUnsupported, "resize of rank ", x.size(), ", 3 to 5 are supported");
  if (!(x[0] == y[0]) || !(x.back() == y.back()))
    return error(Code::kUnsupported, "resize of batch or channels: ", shape_text(x), " to ",
                 shape_text(y));
  task::ResizeTask task;
  task.x = {c.in(0)};
  task.y = {c.out(0)};
  task.kind = modes.kind;
  task.coordinates = modes.coordinates;
  task.nearest = modes.nearest;
  task.cubic_a = static_cast<float>(modes.cubic_a);
  task.exclude_outside = modes.exclude_outside ? 1 : 0;
  const ResizeSizes sizes = has_scales ? TRY(resize_by_scales(c, x, to_doubles(*c.in_constant(2))))
                                       : TRY(resize_by_sizes(c, x, *c.in_ints(3)));
  task.scale_from_sizes = sizes.scales ? 0 : 1;
  for (size_t d = 1; sizes.scales && d < x.size() - 1; ++d)
    task.scale[d - 1] = static_cast<float>((*sizes.scales)[d]);
  c.emit(task);
  return {};
}

/// The scales of a Resize-10 or Upsample: an input, an attribute before opset 9.
Result<std::vector<double>> imported_scales(const ir::ImportContext& c, const ir::Attrs& attrs) {
  if (c.op_type() == "Upsample" && c.opset() < 9) {
    const auto found = attrs.find("scales");
    const auto* stated =
        found == attrs.end() ? nullptr : std::get_if<std::vector<double>>(&found->second);
    if (stated != nullptr) return *stated;
    return error(Code::kInvalidModel, "attribute 'scales' is missing");
  }
  if (!c.has(1)) return error(Code::kInvalidModel, "input 'scales' is missing");
  if (!c.value(1).constant) return error(Code::kUnsupported, "'scales' are known only from data");
  return to_doubles(*c.value(1).constant);
}

/// Resize-10 and Upsample do not shift by half an element. Their nearest element is the one before
/// where a dim grows and the one behind where it shrinks, hence up to two steps.
Result<void> import_asymmetric(ir::ImportContext& c) {
  const std::vector<double> scales = TRY(imported_scales(c, c.attrs()));
  const std::string mode = c.attr_string("mode", "nearest");
  const auto scaled = [&](ir::ValueId x, double least, double most, const char* nearest) {
    std::vector<double> part = scales;
    for (double& scale : part) scale = std::clamp(scale, least, most);
    auto made = Tensor::try_make(DType::kF32, Dims{static_cast<int64_t>(part.size())});
    if (!made.ok()) return Result<ir::ValueId>(made.error());
    Tensor tensor = std::move(made).take();
    from_doubles(part, tensor);
    return c.b().op("resize", {x, ir::kNoValue, c.b().constant(tensor)},
                    {{"mode", mode},
                     {"coordinate_transformation_mode", std::string("asymmetric")},
                     {"nearest_mode", std::string(nearest)}});
  };
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const auto shrinks = [](double scale) { return scale < 1; };
  const auto grows = [](double scale) { return scale > 1; };
  ir::ValueId y = c.in(0);
  if (mode != "nearest") {
    y = TRY(scaled(y, 0, kAny, "floor"));
  } else {
    if (std::ranges::any_of(scales, shrinks)) y = TRY(scaled(y, 0, 1, "ceil"));
    if (std::ranges::any_of(scales, grows) || y == c.in(0)) y = TRY(scaled(y, 1, kAny, "floor"));
  }
  c.attrs().clear();
  c.set_out(0, y);
  return {};
}

}  // namespace

extern constinit const ir::OpDef resize = {
    .name = "resize",
    .doc =
        "x resampled to floor(dim * scale) or to `sizes`: nearest, linear or cubic, coordinates as "
        "ONNX Resize maps them",
    .inputs = {"x", "roi?", "scales?", "sizes?"},
    .outputs = {"y"},
    .attrs = {{"antialias", 0},
              {"axes", {}},
              {"coordinate_transformation_mode", "half_pixel"},
              {"cubic_coeff_a", -0.75},
              {"exclude_outside", 0},
              {"extrapolation_value", 0.0},
              {"keep_aspect_ratio_policy", "stretch"},
              {"mode", "nearest"},
              {"nearest_mode", "round_prefer_floor"},
              {"layout", "nchw"}},
    .onnx = {{"Resize", 10, import_asymmetric}, {"Resize", 11}, {"Upsample", 7, import_asymmetric}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .lower = lower,
    .cases = {"f32[1,2,5,7] - f32{1,1,2,2} ; coordinate_transformation_mode=\"asymmetric\" "
              "nearest_mode=\"floor\"",
              "f32[2,3,4,4] - f32{1,1,2,1.5} ; mode=\"linear\" antialias=0 extrapolation_value=1.0",
              "f32[1,2,5,6] - f32{1,1,0.6,0.6} ; mode=\"linear\" "
              "coordinate_transformation_mode=\"align_corners\"",
              "f32[1,2,4,5] - - i64{1,2,7,3} ; mode=\"cubic\"",
              "f32[1,2,4,5] - - i64{7,9} ; mode=\"cubic\" axes=[2,3] exclude_outside=1 "
              "cubic_coeff_a=-0.5",
              "f32[1,2,4,5] - - i64{9,8} ; mode=\"linear\" axes=[2,3] "
              "keep_aspect_ratio_policy=\"not_larger\"",
              "f32[1,3,9] - - i64{1,3,4} ; nearest_mode=\"ceil\" "
              "coordinate_transformation_mode=\"half_pixel_symmetric\"",
              "f32[1,2,3,4,5] - f32{1,1,2,1,2} ; mode=\"linear\" "
              "coordinate_transformation_mode=\"pytorch_half_pixel\"",
              "f32[0,2,3,3] - f32{1,1,2,2}", "f32[1,1,1,1] - f32{1,1,3,3} ; mode=\"linear\"",
              "f32[1,4,5,3] - f32{1,2,2,1} ; layout=\"nhwc\" nearest_mode=\"round_prefer_ceil\"",
              "f32[1,40,40,24] - f32{1,2,2,1} ; layout=\"nhwc\" "
              "coordinate_transformation_mode=\"asymmetric\" nearest_mode=\"floor\"",
              "f32[1,16,40,40] - - i64{1,16,80,80} ; mode=\"linear\""},
};

}  // namespace tw::ops
