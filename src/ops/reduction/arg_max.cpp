// arg_max: where along an axis the largest element stands; the first of equals, or the last.
#include "ops/reduction/common_arg.h"

namespace tw::ops {

extern constinit const ir::OpDef arg_max = {
    .name = "arg_max",
    .doc = "y = index of the largest of x along axis; select_last_index=1: the last such index",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = kArgAttrs,
    .onnx = {{"ArgMax", 1}},

    .infer = infer_arg,
    .reference = arg_with<[](auto x, auto best) { return best < x; }>,
    .lower = lower_arg<task::ReduceTask::Kind::kArgMax>,
    .cases = kArgCases,
};

}  // namespace tw::ops
