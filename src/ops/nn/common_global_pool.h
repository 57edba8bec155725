// common_global_pool.h: what the two global pools share: a reduction over all spatial dims, which
// stay as dims of 1.
#pragma once

#include "ir/contexts.h"
#include "ops/lower.h"
#include "ops/nn/common_window.h"

namespace tw::ops {

Result<void> infer_global_pool(ir::InferContext& c);
/// Either layout: a reduction does not mind.
Result<void> lower_global_pool(LowerContext& c, task::ReduceTask::Kind kind);

/// `reduce(begin, end)` computes one result from the elements of one plane.
template <class Reduce>
Result<void> evaluate_global_pool(ir::EvalContext& c, Reduce reduce) {
  const bool last = TRY(channels_last(c));
  const std::vector<double> from = to_planes(c.in(0), last);
  std::vector<double> to(static_cast<size_t>(c.out(0).count()));
  const size_t n_pixels = to.empty() ? 0 : from.size() / to.size();
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = reduce(from.data() + i * n_pixels, from.data() + (i + 1) * n_pixels);
  from_planes(to, c.out(0), last);
  return {};
}

}  // namespace tw::ops
