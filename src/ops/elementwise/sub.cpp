// sub: a difference; integers wrap.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef sub = {
    .name = "sub",
    .doc = "y = a - b",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Sub", 7}},

    .infer =
        infer_int_binary<kNumbers, [](auto a, auto b) { return subtract_numbers(a, b); },
                         [](const Dim& a, const Dim& b) -> std::optional<Dim> { return a - b; }>,
    .reference = map_binary<[](auto a, auto b) { return subtract_numbers(a, b); }>,
    .pointwise = emit_binary<task::PointOp::kSub>,
    .cases = kNumberPairCases,
};

}  // namespace tw::ops
