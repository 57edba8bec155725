// hardmax: 1 at the first largest element along an axis, 0 elsewhere. That element is the one where
// a running count of the largest stands at 1, which needs no index and so no known length.
#include "ops/reduction/common_softmax.h"

namespace tw::ops {

extern constinit const ir::OpDef hardmax = {
    .name = "hardmax",
    .doc = "y = 1 where x is the first largest along axis, else 0",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"axis", -1}},
    .onnx = {{"Hardmax", 1, import_coerced_to_2d}, {"Hardmax", 13}},

    .infer = infer_softmax,
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const Tensor& x = c.in(0);
      const Rows rows = Rows::of(x.dims(), axis_of(c, x.rank()));
      rows.for_each([&](int64_t outer, int64_t inner) {
        int64_t best = 0;
        for (int64_t k = 1; k < rows.length; ++k)
          if (x.float_at(rows.at(outer, k, inner)) > x.float_at(rows.at(outer, best, inner)))
            best = k;
        if (rows.length > 0) c.out(0).set_float(rows.at(outer, best, inner), 1);
      });
      return {};
    },
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const int64_t axis = axis_of(c, static_cast<int64_t>(c.type(0).shape.size()));
      const ir::ValueId largest = TRY(c.b().op("reduce_max", {c.in(0), c.b().ints({axis})}));
      const ir::ValueId is_largest = TRY(c.b().op("equal", {c.in(0), largest}));
      const ir::ValueId ones = TRY(c.b().op("cast", {is_largest}, {{"to", std::string("i32")}}));
      const ir::ValueId count = TRY(c.b().op("cum_sum", {ones, c.b().ints({axis})}));
      const ir::ValueId is_first = TRY(c.b().op("equal", {count, c.b().scalar(DType::kI32, 1)}));
      const ir::ValueId chosen = TRY(c.b().op("and", {is_largest, is_first}));
      c.set_out(
          0, TRY(c.b().op("cast", {chosen}, {{"to", std::string(dtype_name(c.type(0).dtype))}})));
      return {};
    },
    .cases = {"f32[1,12,64,64]", "f32[7,33]", "f32[3,5,2] ; axis=1", "f32{2,5,5,1}", "f32[4,1]",
              "f32[0,5]", "f32[2,0]", "f64[3,5]", "f16[5,7] ; axis=0", "bf16[3,9]"},
};

}  // namespace tw::ops
