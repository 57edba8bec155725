#include "ops/nn/common_global_pool.h"

namespace tw::ops {

Result<void> infer_global_pool(ir::InferContext& c) {
  if (c.rank(0) < 3)
    return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected at least 3");
  const bool last = TRY(channels_last(c));
  const ir::Shape& x = c.shape(0);
  const ir::Shape ones(x.size() - 2, Dim(1));
  c.out(0, {c.in(0).dtype, image_shape(x[0], x[channel_axis(x.size(), last)], ones, last)});
  return {};
}

Result<void> lower_global_pool(LowerContext& c, task::ReduceTask::Kind kind) {
  const size_t rank = c.in_type(0).shape.size(),
               channel = channel_axis(rank, TRY(channels_last(c)));
  task::ReduceTask task;
  task.x = {c.in(0)};
  task.y = {c.out(0)};
  task.kind = kind;
  for (size_t d = 1; d < rank; ++d)
    if (d != channel) task.axes |= 1U << d;
  c.emit(task);
  return {};
}

}  // namespace tw::ops
