// shrink: pulls elements outside [-lambd, lambd] towards 0 by bias, and sets those inside to 0.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef shrink = {
    .name = "shrink",
    .doc = "y = x + bias where x < -lambd, x - bias where x > lambd, else 0",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"bias", 0.0}, {"lambd", 0.5}},
    .onnx = {{"Shrink", 9}},

    .infer = infer_unary<kNumbers>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const DType dtype = c.type(0).dtype;
      const ir::ValueId bias = c.b().scalar(dtype, c.attr_float("bias"));
      const ir::ValueId below =
          TRY(c.b().op("less", {c.in(0), c.b().scalar(dtype, -c.attr_float("lambd"))}));
      const ir::ValueId above =
          TRY(c.b().op("greater", {c.in(0), c.b().scalar(dtype, c.attr_float("lambd"))}));
      const ir::ValueId raised = TRY(c.b().op("add", {c.in(0), bias}));
      const ir::ValueId lowered = TRY(c.b().op("sub", {c.in(0), bias}));
      const ir::ValueId inner = TRY(c.b().op("where", {above, lowered, c.b().scalar(dtype, 0)}));
      c.set_out(0, TRY(c.b().op("where", {below, raised, inner})));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32{-2,-1.5,0,1.5,2} ; lambd=1.5 bias=1.5", "f32[3,0,2]", "f32[1]",
              "f64[3,5] ; lambd=0.25", "f16[5,7]", "bf16[9] ; bias=0.5",
              "i32{-5,0,7} ; lambd=2.0 bias=1.0"},
};

}  // namespace tw::ops
