// conv: ONNX Conv in 1 to 3 spatial dims. Tasks want channels last, so a "nchw" node is decomposed
// into transposes around a "nhwc" one; the weight is [co, ci / group, taps..] in both layouts.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_values.h"
#include "ops/nn/common_window.h"

namespace tw::ops {
namespace {

Result<std::vector<int64_t>> kernel_of(const ir::NodeView& view, const ir::Shape& w) {
  std::vector<int64_t> kernel;
  for (size_t d = 2; d < w.size(); ++d) {
    if (!w[d].is_constant())
      return error(Code::kUnsupported, "the kernel of 'w' is ", w[d], ", expected a number");
    kernel.push_back(w[d].constant());
  }
  const std::vector<int64_t> stated = view.attr_ints("kernel_shape");
  if (!stated.empty() && stated != kernel)
    return error(Code::kInvalidModel, "attribute 'kernel_shape' is [", join(stated, ","),
                 "], but 'w' has [", join(kernel, ","), "]");
  return kernel;
}

Result<void> check_channels(const ir::InferContext& c, bool last) {
  const ir::Shape& x = c.shape(0);
  const ir::Shape& w = c.shape(1);
  const int64_t group = c.attr_int("group");
  if (group < 1)
    return error(Code::kInvalidModel, "attribute 'group' is ", group, ", expected at least 1");
  const Dim channels = x[channel_axis(x.size(), last)];
  if (surely_differ(channels, w[1] * Dim(group)))
    return error(Code::kInvalidModel, "'x' has ", channels, " channels, expected ", w[1],
                 " of 'w' times ", group, " groups");
  if (surely_differ(mod(w[0], Dim(group)), Dim(0)))
    return error(Code::kInvalidModel, "'w' has ", w[0], " outputs, expected a multiple of ", group,
                 " groups");
  return expect_shape(c, 2, {w[0]});
}

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_same_type(c, 0, 1));
  TRY(expect_same_type(c, 0, 2));
  if (c.rank(0) < 3 || c.rank(0) > 5 || c.rank(1) != c.rank(0))
    return error(Code::kInvalidModel, "'x' and 'w' have ranks ", c.rank(0), " and ", c.rank(1),
                 ", expected the same, 3 to 5");
  const bool last = TRY(channels_last(c));
  TRY(check_channels(c, last));
  const ir::Shape spatial = spatial_dims(c.shape(0), last);
  const std::vector<int64_t> kernel = TRY(kernel_of(c, c.shape(1)));
  const Window window = TRY(read_window(c, kernel, spatial));
  c.out(0, {c.in(0).dtype,
            image_shape(c.shape(0)[0], c.shape(1)[0], TRY(window_counts(window, spatial)), last)});
  return {};
}

/// to[o] += weight * from[o * stride + shift] for the o of one output row whose source lies in the
/// input row.
void add_row(const double* from, double* to, double weight, int64_t shift, int64_t stride,
             int64_t n_in, int64_t n_out) {
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t end = n_in - shift <= 0 ? 0 : std::min(n_out, (n_in - shift + stride - 1) / stride);
  if (stride == 1) {
    for (int64_t o = begin; o < end; ++o) to[o] += weight * from[o + shift];
  } else {
    for (int64_t o = begin; o < end; ++o) to[o] += weight * from[o * stride + shift];
  }
}

/// to += one input plane convolved with one kernel.
void add_plane(const Geometry& g, const double* from, const double* kernel, double* to) {
  for (int64_t kd = 0; kd < g.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < g.kernel[1]; ++kh)
      for (int64_t kw = 0; kw < g.kernel[2]; ++kw) {
        const double weight = kernel[(kd * g.kernel[1] + kh) * g.kernel[2] + kw];
        const int64_t shift = kw * g.dilation[2] - g.pad[2];
        for (int64_t od = 0; od < g.out[0]; ++od) {
          const int64_t id = od * g.stride[0] - g.pad[0] + kd * g.dilation[0];
          if (id < 0 || id >= g.in[0]) continue;
          for (int64_t oh = 0; oh < g.out[1]; ++oh) {
            const int64_t ih = oh * g.stride[1] - g.pad[1] + kh * g.dilation[1];
            if (ih < 0 || ih >= g.in[1]) continue;
            add_row(from + (id * g.in[1] + ih) * g.in[2], to + (od * g.out[1] + oh) * g.out[2],
                    weight, shift, g.stride[2], g.in[2], g.out[2]);
          }
        }
      }
}

/// A pointwise convolution is one long row: its inner loop should not break at every image row.
void flatten_pointwise(Geometry& g) {
  const std::array<int64_t, 3> ones{1, 1, 1};
  if (g.kernel != ones || g.stride != ones || g.in != g.out) return;
  g.in = g.out = {1, 1, g.in_count()};
}

Result<void> reference(ir::EvalContext& c) {
  const bool last = TRY(channels_last(c));
  const Tensor& x = c.in(0);
  const Dims& w_dims = c.in(1).dims();
  const Dims in = spatial_dims(x.dims(), last);
  const std::vector<int64_t> kernel = TRY(kernel_of(c, ir::to_shape(w_dims)));
  const Window window = TRY(read_window(c, kernel, ir::to_shape(in)));
  Geometry g = concrete_geometry(window, in, spatial_dims(c.out(0).dims(), last));
  flatten_pointwise(g);
  const std::vector<double> from = to_planes(x, last), weights = to_doubles(c.in(1));
  std::vector<double> bias(static_cast<size_t>(w_dims[0]), 0.0);
  if (c.has(2)) bias = to_doubles(c.in(2));

  const int64_t n_out = w_dims[0], n_in = w_dims[1], group = c.attr_int("group");
  std::vector<double> to(static_cast<size_t>(c.out(0).count()));
  for (int64_t image = 0; image < x.dims()[0]; ++image)
    for (int64_t co = 0; co < n_out; ++co) {
      double* const plane = to.data() + (image * n_out + co) * g.out_count();
      std::fill_n(plane, g.out_count(), bias[static_cast<size_t>(co)]);
      const int64_t first = image * n_in * group + co / (n_out / group) * n_in;
      for (int64_t ci = 0; ci < n_in; ++ci)
        add_plane(g, from.data() + (first + ci) * g.in_count(),
                  weights.data() + (co * n_in + ci) * g.taps(), plane);
    }
  from_planes(to, c.out(0), last);
  return {};
}

Result<void> lower(LowerContext& c) {
  TRY(expect_channels_last(c));
  if (!is_gemm_type(c.in_type(0).dtype))
    return error(Code::kUnsupported, "conv of ", c.in_type(0).dtype, ", expected f32, f16 or bf16");
  const std::vector<int64_t> kernel = TRY(kernel_of(c, c.in_type(1).shape));
  const Window window = TRY(read_window(c, kernel, spatial_dims(c.in_type(0).shape, true)));
  task::ConvTask task;
  task.x = {c.in(0)};
  task.w = {c.in(1)};
  if (c.has(2)) task.bias = {c.in(2)};
  task.y = {c.out(0)};
  task.groups = static_cast<int32_t>(c.attr_int("group"));
  TRY(set_sizes(task.kernel, window.kernel, "kernel"));
  TRY(set_sizes(task.stride, window.stride, "stride"));
  TRY(set_sizes(task.dilation, window.dilation, "dilation"));
  TRY(set_sizes(task.pad, window.pad_begin, "padding"));
  c.emit(task);
  return {};
}

}  // namespace

extern constinit const ir::OpDef conv = {
    .name = "conv",
    .doc =
        "y[n, co, o..] = bias[co] + sum over ci and taps of x[n, ci, o*stride - pad + "
        "tap*dilation..] * w[co, ci, tap..]",
    .inputs = {"x", "w", "bias?"},
    .outputs = {"y"},
    .attrs = {{"auto_pad", "NOTSET"},
              {"dilations", {}},
              {"group", 1},
              {"kernel_shape", {}},
              {"pads", {}},
              {"strides", {}},
              {"layout", "nchw"}},
    .onnx = {{"Conv", 1}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose_to_other_layout,
    .lower = lower,
    .cases =
        {"f32[2,3,7,9] f32[5,3,3,3] f32[5] ; pads=[1,1,1,1]",
         "f32[1,4,8,8] f32[6,2,3,2] ; group=2 strides=[2,1] pads=[0,1,2,0]",
         "f32[1,6,9,9] f32[6,1,3,3] f32[6] ; group=6 dilations=[2,2] pads=[2,2,2,2]",
         "f32[1,3,11] f32[4,3,5] ; kernel_shape=[5] strides=[2] auto_pad=\"SAME_UPPER\"",
         "f32[1,3,10,10] f32[4,3,2,2] ; auto_pad=\"SAME_LOWER\"",
         "f32[1,2,4,5,6] f32[3,2,2,3,2] f32[3] ; strides=[1,2,1]", "f32[0,3,5,5] f32[2,3,3,3]",
         "f32[1,1,1,1] f32[1,1,1,1] f32[1]",
         "f32[2,7,9,3] f32[5,3,3,3] f32[5] ; pads=[1,0,1,1] layout=\"nhwc\"",
         "f32[1,9,9,8] f32[8,1,3,3] f32[8] ; pads=[1,1,1,1] strides=[2,2] group=8 layout=\"nhwc\"",
         "f32[1,6,5,16] f32[24,16,1,1] f32[24] ; layout=\"nhwc\"",
         "f32[1,11,4] f32[6,4,3] f32[6] ; pads=[1,1] layout=\"nhwc\"",
         "bf16[1,8,8,16] bf16[24,16,3,3] ; layout=\"nhwc\"",
         "f32[1,64,28,28] f32[64,64,3,3] f32[64] ; pads=[1,1,1,1]"},
};

}  // namespace tw::ops
