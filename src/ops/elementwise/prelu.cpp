// prelu: a relu with a slope of its own for each channel; slope broadcasts to x, never x to slope.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef prelu = {
    .name = "prelu",
    .doc = "y = x where x >= 0, else slope * x",
    .inputs = {"x", "slope"},
    .outputs = {"y"},
    .onnx = {{"PRelu", 7}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(infer_broadcast<kNumbers>(c));
      if (c.rank(1) > c.rank(0))
        return error(Code::kInvalidModel, "input 'slope' has rank ", c.rank(1),
                     ", expected at most ", c.rank(0), ", the rank of 'x'");
      const ir::Shape common = TRY(broadcast_inputs(c));
      for (size_t d = 0; d < common.size(); ++d)
        if (c.shape(0)[d] == Dim(1) && !(common[d] == Dim(1)))
          return error(Code::kInvalidModel, "input 'slope' is ", c.in(1), ", wider than 'x', ",
                       c.in(0));
      c.out(0, c.in(0));
      return {};
    },
    .reference = map_binary<[](auto x, auto slope) {
      return x < decltype(x){0} ? multiply_numbers(slope, x) : x;
    }>,
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const ir::ValueId zero = c.b().scalar(c.type(0).dtype, 0);
      const ir::ValueId negative = TRY(c.b().op("less", {c.in(0), zero}));
      const ir::ValueId scaled = TRY(c.b().op("mul", {c.in(1), c.in(0)}));
      c.set_out(0, TRY(c.b().op("where", {negative, scaled, c.in(0)})));
      return {};
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const DType dtype = c.out_type().dtype;
      const uint8_t negative = c.emit(task::PointOp::kLess, dtype, c.in(0), c.literal(dtype, 0));
      const uint8_t scaled = c.emit(task::PointOp::kMul, dtype, c.in(1), c.in(0));
      c.set_out(c.emit(task::PointOp::kWhere, dtype, negative, scaled, c.in(0)));
      return {};
    },
    .cases = {"f32[1,32,14,14] f32[32,1,1]", "f32[7] f32[1]", "f32[3,0,2] f32[2]",
              "f32[3,5] f32[3,5]", "f64[3,5] f64[]", "f16[5,7] f16[7]", "bf16[9] bf16[9]",
              "i32{-5,0,7} i32{3,3,3}"},
};

}  // namespace tw::ops
