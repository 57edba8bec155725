// log_softmax: the logarithm of softmax, without the detour through small numbers.
#include "ops/reduction/common_softmax.h"

namespace tw::ops {

extern constinit const ir::OpDef log_softmax = {
    .name = "log_softmax",
    .doc = "y = x - log(sum of exp(x) along axis)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"axis", -1}},
    .onnx = {{"LogSoftmax", 1, import_coerced_to_2d}, {"LogSoftmax", 13}},

    .infer = infer_softmax,
    .reference = [](ir::EvalContext& c) -> Result<void> { return softmax_rows(c, true); },
    .lower = [](LowerContext& c) -> Result<void> { return emit_softmax(c, true); },
    .cases = kSoftmaxCases,
};

}  // namespace tw::ops
