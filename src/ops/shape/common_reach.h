// common_reach.h: indices whose own coordinates are coordinates of the tensor too.
#pragma once

#include "ir/op_def.h"

namespace tw::ops {

/// Input 1 (the index) is no larger than input 0 on every axis but `axis`, as far as sizes are
/// known: its coordinates there name elements of the tensor.
Result<void> expect_reach(const ir::InferContext& c, int64_t axis);

}  // namespace tw::ops
