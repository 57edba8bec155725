// softsign: x over one plus its magnitude.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef softsign = {
    .name = "softsign",
    .doc = "y = x / (1 + |x|)",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Softsign", 1}},

    .infer = infer_unary<kFloats>,
    .reference = map_float<[](double x) { return x / (1 + std::fabs(x)); }>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const ir::ValueId magnitude = TRY(c.b().op("abs", {c.in(0)}));
      const ir::ValueId divisor =
          TRY(c.b().op("add", {magnitude, c.b().scalar(c.type(0).dtype, 1)}));
      c.set_out(0, TRY(c.b().op("div", {c.in(0), divisor})));
      return {};
    },
    .cases = kFloatCases,
};

}  // namespace tw::ops
