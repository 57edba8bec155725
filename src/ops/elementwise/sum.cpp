// sum: any number of tensors added up, left to right.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef sum = {
    .name = "sum",
    .doc = "y = sum of all xs, element by element",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .onnx = {{"Sum", 8}},

    .infer = infer_broadcast<kNumbers>,
    .reference = map_variadic<[](auto a, auto b) { return add_numbers(a, b); }>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      ir::ValueId total = c.in(0);
      for (size_t i = 1; i < c.n_inputs(); ++i) total = TRY(c.b().op("add", {total, c.in(i)}));
      c.set_out(0, total);
      return {};
    },
    .pointwise = emit_variadic<task::PointOp::kAdd>,
    .cases = {"f32[1,64,768] f32[768] f32[64,1]", "f32[7] f32[4,1,7]", "f32[2,0] f32[1]", "f32[3]",
              "f64[3] f64[3]", "f16[5,7] f16[7] f16[7]", "bf16[9] bf16[9]", "i32[3] i32[3]"},
};

}  // namespace tw::ops
