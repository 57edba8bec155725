// conv_transpose: the transpose of a convolution: every input element adds a scaled kernel to the
// output. It has no task: where kernels do not overlap it is a matrix product; else x is spread out
// with zeros and convolved with the flipped kernel.
#include <algorithm>
#include <limits>

#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_values.h"
#include "ops/nn/common_window.h"

namespace tw::ops {
namespace {

/// The sizes of a node: `window` slides over the output here; pads are what the output lacks of the
/// full sum.
struct Sizes {
  Window window;
  ir::Shape out;  // spatial
  bool has_output_padding = false;
};

Result<std::vector<int64_t>> optional_sizes(const ir::NodeView& view, const char* name, size_t n) {
  std::vector<int64_t> sizes = view.attr_ints(name);
  if (sizes.empty()) sizes.assign(n, 0);
  if (sizes.size() != n)
    return error(Code::kInvalidModel, "attribute '", name, "' has ", sizes.size(),
                 " numbers, expected ", n);
  return sizes;
}

Result<Sizes> sizes_of(const ir::NodeView& view, const ir::Shape& x, const ir::Shape& w) {
  const ir::Shape spatial = spatial_dims(x, false);
  const size_t n = spatial.size();
  std::vector<int64_t> kernel;
  for (size_t d = 2; d < w.size(); ++d) {
    if (!w[d].is_constant())
      return error(Code::kUnsupported, "the kernel of 'w' is ", w[d], ", expected a number");
    kernel.push_back(w[d].constant());
  }
  Sizes sizes;
  Window& window = sizes.window;
  window = TRY(read_window(view, kernel, spatial));
  const std::vector<int64_t> padding = TRY(optional_sizes(view, "output_padding", n));
  const std::vector<int64_t> stated = TRY(optional_sizes(view, "output_shape", n));
  const bool is_stated = !view.attr_ints("output_shape").empty();
  const std::string auto_pad = view.attr_string("auto_pad");
  const bool is_same = auto_pad.starts_with("SAME");
  for (size_t d = 0; d < n; ++d) {
    sizes.has_output_padding = sizes.has_output_padding || padding[d] != 0;
    const Dim full =
        (spatial[d] - Dim(1)) * Dim(window.stride[d]) + Dim(padding[d] + window.reach(d));
    if (!is_stated && !is_same) {
      sizes.out.push_back(full - window.pad_begin[d] - window.pad_end[d]);
      continue;
    }
    sizes.out.push_back(is_stated ? Dim(stated[d]) : spatial[d] * Dim(window.stride[d]));
    const Dim total = max(full - sizes.out[d], Dim(0));
    const Dim half = floor_div(total, Dim(2));
    window.pad_begin[d] = auto_pad == "SAME_UPPER" ? half : total - half;
    window.pad_end[d] = total - window.pad_begin[d];
  }
  return sizes;
}

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_same_type(c, 0, 1));
  TRY(expect_same_type(c, 0, 2));
  if (c.rank(0) < 3 || c.rank(0) > 5 || c.rank(1) != c.rank(0))
    return error(Code::kInvalidModel, "'x' and 'w' have ranks ", c.rank(0), " and ", c.rank(1),
                 ", expected the same, 3 to 5");
  const ir::Shape &x = c.shape(0), &w = c.shape(1);
  const int64_t group = c.attr_int("group");
  if (group < 1)
    return error(Code::kInvalidModel, "attribute 'group' is ", group, ", expected at least 1");
  if (surely_differ(x[1], w[0]) || surely_differ(mod(w[0], Dim(group)), Dim(0)))
    return error(Code::kInvalidModel, "'x' has ", x[1], " channels, 'w' ", w[0],
                 ", expected the same multiple of ", group, " groups");
  const Dim channels = w[1] * Dim(group);
  TRY(expect_shape(c, 2, {channels}));
  const Sizes sizes = TRY(sizes_of(c, x, w));
  for (const Dim& dim : sizes.out)
    if (dim.is_constant() && dim.constant() < 0)
      return error(Code::kInvalidModel, "pads leave an output of ", dim);
  c.out(0, {c.in(0).dtype, image_shape(x[0], channels, sizes.out, false)});
  return {};
}

/// to += one input plane spread by one kernel: in `g`, `in` is x and `out` is y.
void spread_plane(const Geometry& g, const double* from, const double* kernel, double* to) {
  for (int64_t tap = 0; tap < g.taps(); ++tap) {
    const double weight = kernel[tap];
    const int64_t kw = tap % g.kernel[2], kh = tap / g.kernel[2] % g.kernel[1],
                  kd = tap / g.kernel[2] / g.kernel[1];
    const int64_t shift = kw * g.dilation[2] - g.pad[2], stride = g.stride[2];
    const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    const int64_t end =
        g.out[2] <= shift ? 0 : std::min(g.in[2], (g.out[2] - shift + stride - 1) / stride);
    for (int64_t row = 0; row < g.in[0] * g.in[1]; ++row) {
      const int64_t od = row / g.in[1] * g.stride[0] - g.pad[0] + kd * g.dilation[0];
      const int64_t oh = row % g.in[1] * g.stride[1] - g.pad[1] + kh * g.dilation[1];
      if (od < 0 || od >= g.out[0] || oh < 0 || oh >= g.out[1]) continue;
      const double* const source = from + row * g.in[2];
      double* const target = to + (od * g.out[1] + oh) * g.out[2] + shift;
      for (int64_t i = begin; i < end; ++i) target[i * stride] += weight * source[i];
    }
  }
}

Result<void> reference(ir::EvalContext& c) {
  const Dims &x_dims = c.in(0).dims(), &w_dims = c.in(1).dims(), &y_dims = c.out(0).dims();
  const Sizes sizes = TRY(sizes_of(c, ir::to_shape(x_dims), ir::to_shape(w_dims)));
  const Geometry g =
      concrete_geometry(sizes.window, spatial_dims(x_dims, false), spatial_dims(y_dims, false));
  const int64_t n_in = x_dims[1], n_out = y_dims[1], out_a_group = w_dims[1],
                in_a_group = n_in / c.attr_int("group");
  const std::vector<double> x = to_doubles(c.in(0)), w = to_doubles(c.in(1));
  std::vector<double> bias(static_cast<size_t>(n_out), 0.0);
  if (c.has(2)) bias = to_doubles(c.in(2));
  std::vector<double> y(static_cast<size_t>(c.out(0).count()));
  for (int64_t image = 0; image < x_dims[0]; ++image)
    for (int64_t co = 0; co < n_out; ++co) {
      double* const plane = y.data() + (image * n_out + co) * g.out_count();
      std::fill_n(plane, g.out_count(), bias[static_cast<size_t>(co)]);
      for (int64_t i = 0; i < in_a_group; ++i) {
        const int64_t ci = co / out_a_group * in_a_group + i;
        spread_plane(g, x.data() + (image * n_in + ci) * g.in_count(),
                     w.data() + (ci * out_a_group + co % out_a_group) * g.taps(), plane);
      }
    }
  from_doubles(y, c.out(0));
  return {};
}

bool is_zero(const std::vector<Dim>& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim == Dim(0); });
}

/// Whether every output element comes from one input element.
bool has_no_overlap(const ir::DecomposeContext& c, const Sizes& sizes) {
  const Window& window = sizes.window;
  const std::vector<int64_t> ones(window.kernel.size(), 1);
  return window.kernel == window.stride && window.dilation == ones && c.attr_int("group") == 1 &&
         is_zero(window.pad_begin) && is_zero(window.pad_end) && !sizes.has_output_padding &&
         c.attr_ints("output_shape").empty();
}

/// x[n, s.., ci] times w[ci, co * k..], each row of which is a block of y.
ir::ValueId as_product(Steps& s, const ir::DecomposeContext& c, const Window& window) {
  const ir::ValueId x = c.in(0), w = c.in(1);
  const size_t n_spatial = window.kernel.size();
  const int64_t n_rank = static_cast<int64_t>(n_spatial);
  std::vector<int64_t> pixels_first{0}, interleave{0, 1 + n_rank};
  int64_t n_taps = 1;
  ShapeBuilder blocks(s), weight(s), image(s);
  blocks.add_dim_of(x, 0);
  image.add_dim_of(x, 0).add_dim_of(w, 1);
  for (size_t d = 0; d < n_spatial; ++d) {
    const auto at = static_cast<int64_t>(d);
    pixels_first.push_back(2 + at);
    interleave.push_back(1 + at);
    interleave.push_back(2 + n_rank + at);
    blocks.add_dim_of(x, 2 + d);
    image.add_dim_of(x, 2 + d, window.kernel[d]);
    n_taps *= window.kernel[d];
  }
  pixels_first.push_back(1);
  blocks.add_dim_of(w, 1);
  for (const int64_t size : window.kernel) blocks.add(size);
  weight.add_dim_of(w, 0).add_dim_of(w, 1, n_taps);
  const ir::ValueId product =
      s.op("matmul", {s.transpose(x, pixels_first), s.reshape(w, weight.build())});
  return s.reshape(s.transpose(s.reshape(product, blocks.build()), interleave), image.build());
}

/// x with stride - 1 zeros behind every element; the last ones stay.
ir::ValueId spread_out(Steps& s, ir::ValueId x, const std::vector<int64_t>& stride) {
  const size_t n_spatial = stride.size();
  std::vector<int64_t> axes, pads(2 * (2 + 2 * n_spatial), 0);
  ShapeBuilder spread(s);
  spread.add_dim_of(x, 0).add_dim_of(x, 1);
  for (size_t d = 0; d < n_spatial; ++d) {
    axes.push_back(static_cast<int64_t>(3 + 2 * d));
    pads[2 + 2 * n_spatial + 3 + 2 * d] = stride[d] - 1;
    spread.add_dim_of(x, 2 + d, stride[d]);
  }
  return s.reshape(s.op("pad", {s.unsqueeze(x, axes), s.ints(pads)}), spread.build());
}

/// w [ci, co / g, k..] as the weight of the convolution: [co, ci / g, k.. backwards].
ir::ValueId flip_weight(Steps& s, ir::ValueId w, int64_t group, size_t n_spatial) {
  const ir::Shape shape = s.type(w).shape;
  ShapeBuilder grouped(s), merged(s);
  std::vector<int64_t> swap{0, 2, 1};
  const int64_t in_a_group = shape[0].constant() / group, out_a_group = shape[1].constant();
  grouped.add(group).add(in_a_group).add(out_a_group);
  merged.add(group * out_a_group).add(in_a_group);
  for (size_t d = 0; d < n_spatial; ++d) {
    grouped.add_dim_of(w, 2 + d);
    merged.add_dim_of(w, 2 + d);
    swap.push_back(static_cast<int64_t>(3 + d));
  }
  const ir::ValueId swapped =
      s.reshape(s.transpose(s.reshape(w, grouped.build()), swap), merged.build());
  const std::vector<int64_t> backwards(n_spatial, -1);
  return s.op("slice",
              {swapped, s.ints(backwards),
               s.ints(std::vector<int64_t>(n_spatial, std::numeric_limits<int64_t>::min())),
               s.ints(iota(n_spatial, 2)), s.ints(backwards)});
}

Result<ir::ValueId> as_convolution(ir::DecomposeContext& c, const Sizes& sizes) {
  const Window& window = sizes.window;
  const size_t n = window.kernel.size();
  const ir::Shape spatial = spatial_dims(c.type(0).shape, false);
  std::vector<int64_t> starts(n, 0), ends(n, std::numeric_limits<int64_t>::max()), pads(2 * n, 0);
  for (size_t d = 0; d < n; ++d) {
    // The convolution runs over (in - 1) * stride + 1 elements with these pads; negative ones cut x
    // instead.
    const Dim begin = Dim(window.reach(d) - 1) - window.pad_begin[d];
    const Dim length = (spatial[d] - Dim(1)) * Dim(window.stride[d]) + Dim(1);
    const Dim end = sizes.out[d] - Dim(1) + Dim(window.reach(d)) - length - begin;
    if (!begin.is_constant() || !end.is_constant())
      return error(Code::kUnsupported, "padding of spatial dim ", d, " is ", begin, " and ", end,
                   ", expected numbers");
    starts[d] = std::max<int64_t>(0, -begin.constant());
    pads[d] = std::max<int64_t>(0, begin.constant());
    pads[n + d] = std::max<int64_t>(0, end.constant());
    const int64_t cut = window.stride[d] - 1 + std::max<int64_t>(0, -end.constant());
    if (cut > 0) ends[d] = -cut;
  }
  Steps s(c.b());
  const std::vector<int64_t> ones(n, 1);
  ir::ValueId x = window.stride == ones ? c.in(0) : spread_out(s, c.in(0), window.stride);
  const bool cuts = starts != std::vector<int64_t>(n, 0) ||
                    ends != std::vector<int64_t>(n, std::numeric_limits<int64_t>::max());
  if (cuts) x = s.op("slice", {x, s.ints(starts), s.ints(ends), s.ints(iota(n, 2))});
  std::vector<ir::ValueId> inputs{x, flip_weight(s, c.in(1), c.attr_int("group"), n)};
  if (c.has(2)) inputs.push_back(c.in(2));
  return s.done(
      s.op("conv", inputs,
           {{"dilations", window.dilation}, {"group", c.attr_int("group")}, {"pads", pads}}));
}

Result<void> decompose(ir::DecomposeContext& c) {
  const ir::Shape w = c.type(1).shape;  // a copy: new nodes move values
  const Sizes sizes = TRY(sizes_of(c, c.type(0).shape, w));
  if (!w[0].is_constant() || !w[1].is_constant())
    return error(Code::kUnsupported, "'w' has ", w[0], " by ", w[1], " channels, expected numbers");
  if (!has_no_overlap(c, sizes)) {
    c.set_out(0, TRY(as_convolution(c, sizes)));
    return {};
  }
  Steps s(c.b());
  ir::ValueId y = as_product(s, c, sizes.window);
  if (c.has(2)) y = s.op("add", {y, s.per_channel(c.in(2), w.size())});
  c.set_out(0, y);
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef conv_transpose = {
    .name = "conv_transpose",
    .doc =
        "y[n, co, i*stride - pad + tap*dilation..] += x[n, ci, i..] * w[ci, co, tap..] over ci and "
        "taps, plus bias[co]",
    .inputs = {"x", "w", "bias?"},
    .outputs = {"y"},
    .attrs = {{"auto_pad", "NOTSET"},
              {"dilations", {}},
              {"group", 1},
              {"kernel_shape", {}},
              {"output_padding", {}},
              {"output_shape", {}},
              {"pads", {}},
              {"strides", {}}},
    .onnx = {{"ConvTranspose", 1}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .cases = {"f32[2,3,4,5] f32[3,4,3,3] f32[4] ; strides=[2,2] pads=[1,1,1,1]",
              "f32[1,3,4,5] f32[3,4,2,2] f32[4] ; strides=[2,2]",
              "f32[1,4,5,3] f32[4,3,3,2] f32[6] ; group=2 strides=[3,2] output_padding=[1,1] "
              "pads=[0,1,1,0]",
              "f32[1,2,7] f32[2,3,4] ; kernel_shape=[4] strides=[2] auto_pad=\"SAME_UPPER\"",
              "f32[1,2,5,5] f32[2,3,3,3] ; strides=[2,2] auto_pad=\"SAME_LOWER\"",
              "f32[1,2,5,5] f32[2,3,3,3] ; strides=[2,2] output_shape=[10,12]",
              "f32[1,2,3,3] f32[2,2,2,2] ; dilations=[2,2]",
              "f32[1,1,4,4] f32[1,1,1,1] f32[1] ; pads=[1,1,1,1]",
              "f32[1,2,2,3,4] f32[2,2,2,2,2] ; strides=[2,2,2]",
              "f32[0,2,3,3] f32[2,2,3,3] ; strides=[2,2]", "f32[1,1,1,1] f32[1,1,1,1] f32[1]",
              "f32[1,24,40,40] f32[24,24,2,2] f32[24] ; strides=[2,2]"},
};

}  // namespace tw::ops
