// common_softmax.h: softmax and log_softmax differ only in the last step.
#pragma once

#include "ops/reduction/common_rows.h"

namespace tw::ops {

inline constexpr Cases kSoftmaxCases = {
    "f32[1,12,64,64]",
    "f32[7,33]",
    "f32[3,5,2] ; axis=1",
    "f32[3,5,2] ; axis=0",
    "f32[4,1]",
    "f32[0,5]",
    "f32[2,0]",
    "f32[2,3,0] ; axis=1",
    "f32{1000,-1000,0,999}",
    "f64[3,5]",
    "f16[5,7]",
    "bf16[3,9] ; axis=-2",
};

/// infer hook: a float tensor, `axis` within its rank.
Result<void> infer_softmax(ir::InferContext& c);
/// Each row's softmax in double, or its logarithm.
Result<void> softmax_rows(ir::EvalContext& c, bool logarithm);
Result<void> emit_softmax(LowerContext& c, bool logarithm);

}  // namespace tw::ops
