// leaky_relu: a relu with a slope for negative elements.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef leaky_relu = {
    .name = "leaky_relu",
    .doc = "y = x where x >= 0, else alpha * x",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"alpha", 0.01}},
    .onnx = {{"LeakyRelu", 6}},

    .infer = infer_unary<kFloats>,
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const double alpha = c.attr_float("alpha");
      return map_with(c, [=](double x) { return x < 0 ? alpha * x : x; });
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const DType dtype = c.in_type(0).dtype;
      if (dtype == DType::kF64) {  // an instruction's parameters are f32
        using task::PointOp;
        const uint8_t sloped =
            c.emit(PointOp::kMul, dtype, c.in(0), c.literal(dtype, c.attr_float("alpha")));
        const uint8_t negative = c.emit(PointOp::kLess, dtype, c.in(0), c.literal(dtype, 0));
        c.set_out(c.emit(PointOp::kWhere, dtype, negative, sloped, c.in(0)));
        return {};
      }
      c.set_out(c.emit(task::PointOp::kLeakyRelu, c.in_type(0).dtype, c.in(0), 0, 0,
                       static_cast<float>(c.attr_float("alpha"))));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32[1]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "f32{-9,-3,-1,-0.5,0,0.5,1,3,9} ; alpha=0.25"},
};

}  // namespace tw::ops
