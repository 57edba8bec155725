// cum_sum: running sums along an axis, from either end, with or without the element itself.
#include "ops/elementwise/common_map.h"
#include "ops/reduction/common_rows.h"

namespace tw::ops {

extern constinit const ir::OpDef cum_sum = {
    .name = "cum_sum",
    .doc =
        "y[k] = x[0] + .. + x[k] along axis; exclusive=1 leaves out x[k], reverse=1 starts at the "
        "end",
    .inputs = {"x", "axis"},
    .outputs = {"y"},
    .attrs = {{"exclusive", 0}, {"reverse", 0}},
    .onnx = {{"CumSum", 11}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kNumbers));
      if (const auto axis = c.constant_ints(1); axis && axis->size() == 1)
        TRY(c.axis(axis->front(), c.rank(0), "input 'axis'"));
      c.out(0, c.in(0));
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const Tensor& x = c.in(0);
      const int64_t axis = c.in(1).int_at(0);
      const Rows rows = Rows::of(x.dims(), axis < 0 ? axis + x.rank() : axis);
      const bool exclusive = c.attr_int("exclusive") != 0;
      const bool reverse = c.attr_int("reverse") != 0;
      with_number_type(x.dtype(), [&]<class T>(T) {
        rows.for_each([&](int64_t outer, int64_t inner) {
          T sum{0};
          for (int64_t step = 0; step < rows.length; ++step) {
            const int64_t i = rows.at(outer, reverse ? rows.length - 1 - step : step, inner);
            const T next = add_numbers(sum, read_number<T>(x, i));
            write_number(c.out(0), i, exclusive ? sum : next);
            sum = next;
          }
        });
      });
      return {};
    },
    .lower = [](LowerContext& c) -> Result<void> {
      const auto* axis = c.in_ints(1);
      if (axis == nullptr || axis->size() != 1 || !axis->front().is_constant())
        return error(Code::kUnsupported,
                     "input 'axis' is known only at run time, expected a constant");
      const int64_t given = axis->front().constant();
      const auto rank = static_cast<int64_t>(c.in_type(0).shape.size());
      c.emit(task::ScanTask{.x = {c.in(0)},
                            .y = {c.out(0)},
                            .axis = static_cast<int8_t>(given < 0 ? given + rank : given),
                            .exclusive = static_cast<uint8_t>(c.attr_int("exclusive") != 0),
                            .reverse = static_cast<uint8_t>(c.attr_int("reverse") != 0)});
      return {};
    },
    .cases = {"f32[1,64,128] i64(-1)", "f32[7] i64(0)", "f32[3,5] i32{0} ; exclusive=1",
              "f32[3,5,2] i64(1) ; reverse=1", "f32[3,5] i64(1) ; exclusive=1 reverse=1",
              "f32[3,0] i64(1)", "f32[4,1] i64(1)", "f64[3,5] i64(0)", "f16[5,7] i64(1)",
              "bf16[9] i64(0)", "i32[3,5] i64(1)", "i64[7] i64(0) ; reverse=1", "u8[5] i64(0)"},
};

}  // namespace tw::ops
