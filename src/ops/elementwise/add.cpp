// add: a sum; integers wrap.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef add = {
    .name = "add",
    .doc = "y = a + b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Add", 7}},

    .infer =
        infer_int_binary<kNumbers, [](auto a, auto b) { return add_numbers(a, b); },
                         [](const Dim& a, const Dim& b) -> std::optional<Dim> { return a + b; }>,
    .reference = map_binary<[](auto a, auto b) { return add_numbers(a, b); }>,
    .pointwise = emit_binary<task::PointOp::kAdd>,
    .cases = kNumberPairCases,
};

}  // namespace tw::ops
