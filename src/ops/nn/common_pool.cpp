#include "ops/nn/common_pool.h"

#include <algorithm>

#include "ops/nn/common_check.h"

namespace tw::ops {

Result<void> infer_pool(ir::InferContext& c) {
  if (c.rank(0) < 3 || c.rank(0) > 5)
    return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected 3 to 5");
  const bool last = TRY(channels_last(c));
  const ir::Shape& x = c.shape(0);
  const ir::Shape spatial = spatial_dims(x, last);
  const std::vector<int64_t> kernel = c.attr_ints("kernel_shape");
  if (kernel.size() != spatial.size())
    return error(Code::kInvalidModel, "attribute 'kernel_shape' has ", kernel.size(),
                 " numbers, expected ", spatial.size());
  for (const int64_t size : kernel)
    if (size < 1)
      return error(Code::kInvalidModel, "attribute 'kernel_shape' holds ", size,
                   ", expected at least 1");
  const Window window = TRY(read_window(c, kernel, spatial, c.attr_int("ceil_mode") != 0));
  c.out(0, {c.in(0).dtype, image_shape(x[0], x[channel_axis(x.size(), last)],
                                       TRY(window_counts(window, spatial)), last)});
  return {};
}

Result<void> lower_pool(LowerContext& c, task::PoolTask::Kind kind, bool count_padding) {
  TRY(expect_channels_last(c));
  const Window window =
      TRY(read_window(c, c.attr_ints("kernel_shape"), spatial_dims(c.in_type(0).shape, true),
                      c.attr_int("ceil_mode") != 0));
  task::PoolTask task;
  task.x = {c.in(0)};
  task.y = {c.out(0)};
  task.kind = kind;
  task.count_padding = count_padding ? 1 : 0;
  TRY(set_sizes(task.kernel, window.kernel, "kernel"));
  TRY(set_sizes(task.stride, window.stride, "stride"));
  TRY(set_sizes(task.dilation, window.dilation, "dilation"));
  TRY(set_sizes(task.pad, window.pad_begin, "padding"));
  TRY(set_sizes(task.pad_end, window.pad_end, "padding"));
  c.emit(task);
  return {};
}

PoolWindow pool_window(const Geometry& g, int64_t index) {
  PoolWindow w;
  for (size_t d = 3; d-- > 0;) {
    const int64_t first = index % g.out[d] * g.stride[d] - g.pad[d];
    index /= g.out[d];
    const int64_t dilation = g.dilation[d];
    const auto taps_before = [&](int64_t limit) {  // how many taps lie below coordinate `limit`
      return std::clamp<int64_t>(limit <= first ? 0 : (limit - first + dilation - 1) / dilation, 0,
                                 g.kernel[d]);
    };
    w.first[d] = first;
    w.begin[d] = taps_before(0);
    w.end[d] = taps_before(g.in[d]);
    w.n_padded *= taps_before(g.in[d] + g.pad_end[d]);
  }
  return w;
}

}  // namespace tw::ops
