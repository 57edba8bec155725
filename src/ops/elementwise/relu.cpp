// relu: clamps negative elements to 0.
#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef relu = {
    .name = "relu",
    .doc = "y = max(x, 0)",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Relu", 6}},

    .infer = infer_unary<static_cast<TypeSet>(kFloats | kSignedInts)>,
    .reference = map_unary<[](auto x) { return larger_number(x, decltype(x){0}); }>,
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const DType dtype = c.out_type().dtype;
      if (is_float(dtype)) return emit_unary<task::PointOp::kRelu>(c);
      c.set_out(c.emit(task::PointOp::kMax, dtype, c.in(0), c.literal_int(0)));
      return {};
    },
    .cases = {"f32[1,64,768]", "f32[7]", "f32[3,0,2]", "f32[]", "f64[3,5]", "f16[5,7]", "bf16[9]",
              "i32{-5,0,7}", "i8{-128,127}"},
};

}  // namespace tw::ops
