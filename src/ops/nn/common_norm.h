// common_norm.h: normalisation of the dims from `axis` on, as layer_normalization and rms_norm do
// it.
#pragma once

#include "ir/contexts.h"
#include "ops/lower.h"

namespace tw::ops {

/// Checks x, scale, the optional bias (inputs 0 to 2) and `axis`; output 0 is like x. Gives the
/// axis in [0, rank).
Result<int64_t> infer_norm(ir::InferContext& c);
/// The axis counted from the front, for a node that inference accepted.
size_t norm_axis(const ir::NodeView& view, size_t rank);
/// x seen as rows: [elements before axis, elements from axis on].
ir::Shape norm_rows(const ir::Shape& x, size_t axis);
/// Emits the task for x, scale and the optional bias; statistics go to outputs 1 and 2 where the
/// node has them.
Result<void> lower_norm(LowerContext& c, task::NormTask::Kind kind);

}  // namespace tw::ops
