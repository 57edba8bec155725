// hard_sigmoid: a piecewise linear sigmoid.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef hard_sigmoid = {
    .name = "hard_sigmoid",
    .doc = "y = max(0, min(1, alpha * x + beta))",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"alpha", 0.2}, {"beta", 0.5}},
    .onnx = {{"HardSigmoid", 6}},

    .infer = infer_unary<kFloats>,
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const double alpha = c.attr_float("alpha");
      const double beta = c.attr_float("beta");
      return map_with(
          c, [=](double x) { return larger_number(smaller_number(alpha * x + beta, 1.0), 0.0); });
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const DType dtype = c.in_type(0).dtype;
      if (dtype == DType::kF64) {  // an instruction's parameters are f32
        using task::PointOp;
        const uint8_t scaled =
            c.emit(PointOp::kMul, dtype, c.in(0), c.literal(dtype, c.attr_float("alpha")));
        const uint8_t moved =
            c.emit(PointOp::kAdd, dtype, scaled, c.literal(dtype, c.attr_float("beta")));
        const uint8_t below = c.emit(PointOp::kMin, dtype, moved, c.literal(dtype, 1));
        c.set_out(c.emit(PointOp::kMax, dtype, below, c.literal(dtype, 0)));
        return {};
      }
      c.set_out(c.emit(task::PointOp::kHardSigmoid, c.in_type(0).dtype, c.in(0), 0, 0,
                       static_cast<float>(c.attr_float("alpha")),
                       static_cast<float>(c.attr_float("beta"))));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32[1]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "f32{-9,-3,-1,-0.5,0,0.5,1,3,9} ; alpha=0.25 beta=1.5"},
};

}  // namespace tw::ops
