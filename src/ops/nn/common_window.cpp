#include "ops/nn/common_window.h"

#include <algorithm>
#include <limits>

#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<std::vector<int64_t>> read_sizes(const ir::NodeView& view, const char* name, size_t n,
                                        int64_t fallback, int64_t least) {
  std::vector<int64_t> sizes = view.attr_ints(name);
  if (sizes.empty()) sizes.assign(n, fallback);
  if (sizes.size() != n)
    return error(Code::kInvalidModel, "attribute '", name, "' has ", sizes.size(),
                 " numbers, expected ", n);
  for (const int64_t size : sizes)
    if (size < least)
      return error(Code::kInvalidModel, "attribute '", name, "' holds ", size,
                   ", expected at least ", least);
  return sizes;
}

/// SAME_UPPER and SAME_LOWER: as many windows as strides fit; an odd element of padding goes to the
/// end or the begin.
void set_same_pads(Window& window, const ir::Shape& spatial, bool upper) {
  for (size_t d = 0; d < spatial.size(); ++d) {
    const Dim stride(window.stride[d]);
    const Dim needed =
        (ceil_div(spatial[d], stride) - Dim(1)) * stride + Dim(window.reach(d)) - spatial[d];
    const Dim total = max(needed, Dim(0));
    const Dim half = floor_div(total, Dim(2));
    window.pad_begin.push_back(upper ? half : total - half);
    window.pad_end.push_back(upper ? total - half : half);
  }
}

}  // namespace

Result<Window> read_window(const ir::NodeView& view, const std::vector<int64_t>& kernel,
                           const ir::Shape& spatial, bool ceil_mode) {
  const size_t n = spatial.size();
  Window window;
  window.kernel = kernel;
  window.ceil_mode = ceil_mode;
  window.stride = TRY(read_sizes(view, "strides", n, 1, 1));
  window.dilation = TRY(read_sizes(view, "dilations", n, 1, 1));
  const std::string auto_pad = view.attr_string("auto_pad");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    set_same_pads(window, spatial, auto_pad == "SAME_UPPER");
    return window;
  }
  if (auto_pad != "NOTSET" && auto_pad != "VALID")
    return error(Code::kInvalidModel, "attribute 'auto_pad' is '", auto_pad,
                 "', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  std::vector<int64_t> pads(2 * n, 0);
  if (auto_pad == "NOTSET") pads = TRY(read_sizes(view, "pads", 2 * n, 0, 0));
  window.pad_begin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(n));
  window.pad_end.assign(pads.begin() + static_cast<int64_t>(n), pads.end());
  return window;
}

Result<ir::Shape> window_counts(const Window& window, const ir::Shape& spatial) {
  ir::Shape counts;
  for (size_t d = 0; d < spatial.size(); ++d) {
    const Dim padded = spatial[d] + window.pad_begin[d] + window.pad_end[d];
    const Dim room = padded - Dim(window.reach(d)), stride(window.stride[d]);
    if (room.is_constant() && room.constant() < 0 && !window.ceil_mode)
      return error(Code::kInvalidModel, "spatial dim ", d, " has ", padded,
                   " elements with padding, the kernel reaches over ", window.reach(d));
    Dim count = floor_div(room, stride) + Dim(1);
    if (window.ceil_mode) {  // a last window may hang over the end, but it does not start behind
                             // the input
      const Dim starts = floor_div(spatial[d] + window.pad_begin[d] - Dim(1), stride) + Dim(1);
      count = min(ceil_div(room, stride) + Dim(1), starts);
    }
    counts.push_back(count);
  }
  return counts;
}

Geometry concrete_geometry(const Window& window, const Dims& in_spatial, const Dims& out_spatial) {
  Geometry g;
  const size_t n = in_spatial.size();
  for (size_t d = 0; d < n; ++d) {
    const size_t to = 3 - n + d;
    g.in[to] = in_spatial[d];
    g.out[to] = out_spatial[d];
    g.kernel[to] = window.kernel[d];
    g.stride[to] = window.stride[d];
    g.dilation[to] = window.dilation[d];
    g.pad[to] = window.pad_begin[d].constant();
    g.pad_end[to] = window.pad_end[d].constant();
  }
  return g;
}

Result<void> set_sizes(TaskSizes& to, const std::vector<int64_t>& from, const char* what) {
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] > std::numeric_limits<int16_t>::max())
      return error(Code::kUnsupported, what, " of ", from[d], ", at most ",
                   std::numeric_limits<int16_t>::max(), " is supported");
    to[d] = static_cast<int16_t>(from[d]);
  }
  return {};
}

Result<void> set_sizes(TaskSizes& to, const std::vector<Dim>& from, const char* what) {
  std::vector<int64_t> numbers;
  for (const Dim& dim : from) {
    if (!dim.is_constant())
      return error(Code::kUnsupported, what, " is ", dim,
                   ": auto_pad on a symbolic size with a stride above 1");
    numbers.push_back(dim.constant());
  }
  return set_sizes(to, numbers, what);
}

Result<bool> channels_last(const ir::NodeView& view) {
  const std::string layout = view.attr_string("layout");
  if (layout == "nhwc") return true;
  if (layout == "nchw") return false;
  return error(Code::kInvalidModel, "attribute 'layout' is '", layout, "', expected nchw or nhwc");
}

size_t channel_axis(size_t rank, bool last) { return last ? rank - 1 : 1; }

ir::Shape spatial_dims(const ir::Shape& shape, bool last) {
  const int64_t begin = last ? 1 : 2;
  return ir::Shape(shape.begin() + begin, shape.end() - (last ? 1 : 0));
}

Dims spatial_dims(const Dims& dims, bool last) {
  Dims spatial;
  for (size_t d = last ? 1 : 2; d < dims.size() - (last ? 1 : 0); ++d) spatial.push_back(dims[d]);
  return spatial;
}

ir::Shape image_shape(const Dim& batch, const Dim& channels, const ir::Shape& spatial, bool last) {
  ir::Shape shape{batch};
  if (!last) shape.push_back(channels);
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  if (last) shape.push_back(channels);
  return shape;
}

std::vector<double> to_planes(const Tensor& x, bool last) {
  if (!last && is_float(x.dtype())) return to_doubles(x);
  std::vector<double> values(static_cast<size_t>(x.count()));
  const int64_t channels = x.dims()[channel_axis(x.dims().size(), last)];
  const bool moves = last && channels != 0;
  const int64_t n_pixels = moves ? x.count() / (std::max<int64_t>(1, x.dims()[0]) * channels) : 0;
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t to = i;
    if (moves) {  // i is (image, pixel, channel)
      const int64_t channel = i % channels, pixel = i / channels % n_pixels,
                    image = i / channels / n_pixels;
      to = (image * channels + channel) * n_pixels + pixel;
    }
    values[static_cast<size_t>(to)] =
        is_float(x.dtype()) ? x.float_at(i) : static_cast<double>(x.int_at(i));
  }
  return values;
}

void from_planes(const std::vector<double>& planes, Tensor& y, bool last) {
  const int64_t channels = y.dims()[channel_axis(y.dims().size(), last)];
  const bool moves = last && channels != 0;
  const int64_t n_pixels = moves ? y.count() / (std::max<int64_t>(1, y.dims()[0]) * channels) : 0;
  for (int64_t i = 0; i < y.count(); ++i) {
    int64_t from = i;
    if (moves) {
      const int64_t channel = i % channels, pixel = i / channels % n_pixels,
                    image = i / channels / n_pixels;
      from = (image * channels + channel) * n_pixels + pixel;
    }
    y.set_float(i, planes[static_cast<size_t>(from)]);
  }
}

std::vector<int64_t> layout_permutation(size_t rank, bool to_last) {
  std::vector<int64_t> permutation{0};
  if (!to_last) permutation.push_back(static_cast<int64_t>(rank) - 1);
  for (size_t d = to_last ? 2 : 1; d < rank - (to_last ? 0 : 1); ++d)
    permutation.push_back(static_cast<int64_t>(d));
  if (to_last) permutation.push_back(1);
  return permutation;
}

Result<void> decompose_to_other_layout(ir::DecomposeContext& c, ir::Attrs attrs) {
  const bool last = TRY(channels_last(c));
  const size_t rank = c.type(0).shape.size();
  attrs["layout"] = std::string(last ? "nchw" : "nhwc");
  Steps s(c.b());
  std::vector<ir::ValueId> inputs = c.node().inputs;
  inputs[0] = s.transpose(inputs[0], layout_permutation(rank, !last));
  const ir::ValueId y = s.op(c.node().op->name, inputs, std::move(attrs));
  c.set_out(0, s.transpose(y, layout_permutation(rank, last)));
  return s.status();
}

Result<void> decompose_to_other_layout(ir::DecomposeContext& c) {
  return decompose_to_other_layout(c, c.node().attrs);
}

Result<void> expect_channels_last(const ir::NodeView& view) {
  if (TRY(channels_last(view))) return {};
  return error(Code::kUnsupported, "layout is nchw, tasks want nhwc: decompose first");
}

}  // namespace tw::ops
