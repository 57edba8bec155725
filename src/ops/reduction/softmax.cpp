// softmax: a distribution out of scores, along one axis; each row is shifted by its largest
// element.
#include "ops/reduction/common_softmax.h"

namespace tw::ops {

extern constinit const ir::OpDef softmax = {
    .name = "softmax",
    .doc = "y = exp(x) / sum of exp(x) along axis",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"axis", -1}},
    .onnx = {{"Softmax", 1, import_coerced_to_2d}, {"Softmax", 13}},

    .infer = infer_softmax,
    .reference = [](ir::EvalContext& c) -> Result<void> { return softmax_rows(c, false); },
    .lower = [](LowerContext& c) -> Result<void> { return emit_softmax(c, false); },
    .cases = kSoftmaxCases,
};

}  // namespace tw::ops
