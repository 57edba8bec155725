// is_nan: tells elements that are not numbers.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef is_nan = {
    .name = "is_nan",
    .doc = "y = whether x is NaN",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"IsNaN", 9}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kFloats));
      c.out(0, {DType::kBool, c.shape(0)});
      return {};
    },
    .reference = map_float<[](double x) { return static_cast<uint64_t>(std::isnan(x)); }>,
    .pointwise = emit_unary<task::PointOp::kIsNan>,
    .cases = {"f32[16,256]", "f32{0,nan,inf,-inf,1}", "f32[3,0]", "f32[1]", "f64{nan,2}",
              "f16{nan,inf,7}", "bf16{nan,1,2}"},
};

}  // namespace tw::ops
