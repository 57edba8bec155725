// thresholded_relu: passes what lies above a threshold.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef thresholded_relu = {
    .name = "thresholded_relu",
    .doc = "y = x where x > alpha, else 0",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"alpha", 1.0}},
    .onnx = {{"ThresholdedRelu", 10}},

    .infer = infer_unary<kFloats>,
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const double alpha = c.attr_float("alpha");
      return map_with(c, [=](double x) { return x > alpha ? x : 0.0; });
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      c.set_out(c.emit(task::PointOp::kThresholdedRelu, c.in_type(0).dtype, c.in(0), 0, 0,
                       static_cast<float>(c.attr_float("alpha"))));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32[1]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "f32{-9,-3,-1,-0.5,0,0.5,1,3,9} ; alpha=0.25"},
};

}  // namespace tw::ops
