// where: picks from two tensors by a condition, all three broadcast.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {

extern constinit const ir::OpDef where = {
    .name = "where",
    .doc = "y = a where condition, else b",
    .inputs = {"condition", "a", "b"},
    .outputs = {"y"},
    .onnx = {{"Where", 9}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kBools));
      TRY(expect_same_dtype(c, 1));
      c.out(0, {c.in(1).dtype, TRY(broadcast_inputs(c))});
      propagate_ints(
          c, [](std::span<const Dim> x) -> std::optional<Dim> { return select(x[0], x[1], x[2]); });
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const Dims to = c.out(0).dims();
      for (int64_t i = 0; i < c.out(0).count(); ++i) {
        const Tensor& from =
            c.in(c.in(0).int_at(broadcast_index(to, c.in(0).dims(), i)) != 0 ? 1 : 2);
        const int64_t at = broadcast_index(to, from.dims(), i);
        if (is_float(from.dtype()))
          c.out(0).set_float(i, from.float_at(at));
        else
          c.out(0).set_int(i, from.int_at(at));
      }
      return {};
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      c.set_out(c.emit(task::PointOp::kWhere, c.out_type().dtype, c.in(0), c.in(1), c.in(2)));
      return {};
    },
    .cases = {"bool[1,1,64,64] f32[1,12,64,64] f32[]", "bool[7] f32[7] f32[7]",
              "bool[2,0] f32[1] f32[2,1]", "bool[3,1] f32[5] f32[3,5]", "bool[] f32[3] f32[3]",
              "bool[5] f64[5] f64[5]", "bool[5] f16[5] f16[5]", "bool[5] bf16[5] bf16[5]",
              "bool[5] i64[5] i64[5]", "bool[5] u8[5] u8[1]", "bool[5] bool[5] bool[5]"},
};

}  // namespace tw::ops
