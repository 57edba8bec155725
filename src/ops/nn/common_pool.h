// common_pool.h: what max_pool and average_pool share: windows on images, one channel at a time.
#pragma once

#include "ir/contexts.h"
#include "ops/lower.h"
#include "ops/nn/common_window.h"

namespace tw::ops {

Result<void> infer_pool(ir::InferContext& c);
Result<void> lower_pool(LowerContext& c, task::PoolTask::Kind kind, bool count_padding);

/// One pooling window on concrete dims: taps [begin, end) of each spatial dim lie in the input;
/// n_padded counts those that lie in the padded input.
struct PoolWindow {
  std::array<int64_t, 3> first{}, begin{}, end{};
  int64_t n_padded = 1;
};
PoolWindow pool_window(const Geometry& g, int64_t index);

/// Evaluates a pool: `reduce(window, visit)` computes one result; visit(f) calls f with each
/// element of the window.
template <class Reduce>
Result<void> evaluate_pool(ir::EvalContext& c, Reduce reduce) {
  const bool last = TRY(channels_last(c));
  const Tensor& x = c.in(0);
  const Dims in = spatial_dims(x.dims(), last);
  const Window window = TRY(
      read_window(c, c.attr_ints("kernel_shape"), ir::to_shape(in), c.attr_int("ceil_mode") != 0));
  const Geometry g = concrete_geometry(window, in, spatial_dims(c.out(0).dims(), last));
  const std::vector<double> from = to_planes(x, last);
  std::vector<double> to(static_cast<size_t>(c.out(0).count()));
  for (size_t i = 0; i < to.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const double* const plane = from.data() + at / g.out_count() * g.in_count();
    const PoolWindow w = pool_window(g, at % g.out_count());
    to[i] = reduce(w, [&](auto&& visit) {
      for (int64_t d = w.begin[0]; d < w.end[0]; ++d)
        for (int64_t h = w.begin[1]; h < w.end[1]; ++h)
          for (int64_t k = w.begin[2]; k < w.end[2]; ++k)
            visit(plane[((w.first[0] + d * g.dilation[0]) * g.in[1] + w.first[1] +
                         h * g.dilation[1]) *
                            g.in[2] +
                        w.first[2] + k * g.dilation[2]]);
    });
  }
  from_planes(to, c.out(0), last);
  return {};
}

}  // namespace tw::ops
