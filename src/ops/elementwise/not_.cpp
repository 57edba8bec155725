// not: turns true and false over.
#include "ops/elementwise/common_ints.h"
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef not_ = {
    .name = "not",
    .doc = "y = not x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Not", 1}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(infer_unary<kBools>(c));
      propagate_ints(c, [](std::span<const Dim> x) -> std::optional<Dim> { return Dim(1) - x[0]; });
      return {};
    },
    .reference = map_unary_bits<[](uint64_t x) { return x ^ 1U; }>,
    .pointwise = emit_unary<task::PointOp::kNot>,
    .cases = {"bool[16,256]", "bool[7]", "bool[2,0]", "bool[]"},
};

}  // namespace tw::ops
