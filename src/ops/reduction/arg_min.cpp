// arg_min: where along an axis the smallest element stands; the first of equals, or the last.
#include "ops/reduction/common_arg.h"

namespace tw::ops {

extern constinit const ir::OpDef arg_min = {
    .name = "arg_min",
    .doc = "y = index of the smallest of x along axis; select_last_index=1: the last such index",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = kArgAttrs,
    .onnx = {{"ArgMin", 1}},

    .infer = infer_arg,
    .reference = arg_with<[](auto x, auto best) { return x < best; }>,
    .lower = lower_arg<task::ReduceTask::Kind::kArgMin>,
    .cases = kArgCases,
};

}  // namespace tw::ops
