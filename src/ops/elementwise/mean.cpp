// mean: the average of any number of tensors, with broadcasting.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef mean = {
    .name = "mean",
    .doc = "y = sum of all xs / number of xs, element by element",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .onnx = {{"Mean", 8}},

    .infer = infer_broadcast<kFloats>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const ir::ValueId total = TRY(c.b().op("sum", c.node().inputs));
      const ir::ValueId count =
          c.b().scalar(c.out_type(0).dtype, static_cast<double>(c.n_inputs()));
      c.set_out(0, TRY(c.b().op("div", {total, count})));
      return {};
    },
    .cases = {"f32[1,64,768] f32[768] f32[64,1]", "f32[7] f32[4,1,7]", "f32[2,0] f32[1]", "f32[3]",
              "f64[3] f64[3] f64[3]", "f16[5,7] f16[7]", "bf16[9] bf16[9]"},
};

}  // namespace tw::ops
