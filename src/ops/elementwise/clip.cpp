// clip: bounds every element. Both bounds are optional scalars; where min exceeds max, max wins.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {
namespace {

/// Before opset 11 the bounds are attributes.
Result<void> import_bounds(ir::ImportContext& c) {
  const DType dtype = c.value(0).type.dtype;
  const auto bound = [&](std::string_view name) {
    if (!c.attrs().contains(name)) return ir::kNoValue;
    const ir::ValueId id = c.b().scalar(dtype, c.attr_float(name, 0));
    c.attrs().erase(c.attrs().find(name));
    return id;
  };
  const ir::ValueId low = bound("min");
  const ir::ValueId high = bound("max");
  c.set_out(0, TRY(c.b().op("clip", {c.in(0), low, high})));
  return {};
}

}  // namespace

extern constinit const ir::OpDef clip = {
    .name = "clip",
    .doc = "y = min(max(x, min), max)",
    .inputs = {"x", "min?", "max?"},
    .outputs = {"y"},
    .onnx = {{"Clip", 6, import_bounds}, {"Clip", 11}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kNumbers));
      TRY(expect_same_dtype(c));
      for (size_t i = 1; i < c.n_inputs(); ++i)
        if (c.has(i) && !(ir::element_count(c.shape(i)) == Dim(1)))
          return error(Code::kInvalidModel, "input '", i == 1 ? "min" : "max", "' is ", c.in(i),
                       ", expected a scalar");
      c.out(0, c.in(0));
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      with_number_type(c.in(0).dtype(), [&]<class T>(T) {
        for (int64_t i = 0; i < c.in(0).count(); ++i) {
          T value = read_number<T>(c.in(0), i);
          if (c.has(1)) value = larger_number(value, read_number<T>(c.in(1), 0));
          if (c.has(2)) value = smaller_number(value, read_number<T>(c.in(2), 0));
          write_number(c.out(0), i, value);
        }
      });
      return {};
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      uint8_t value = c.in(0);
      if (c.has(1)) value = c.emit(task::PointOp::kMax, c.out_type().dtype, value, c.in(1));
      if (c.has(2)) value = c.emit(task::PointOp::kMin, c.out_type().dtype, value, c.in(2));
      c.set_out(value);
      return {};
    },
    .cases = {"f32[1,32,14,14] f32(0) f32(6)", "f32[7] f32(-0.5)", "f32[3,0,2] - f32(0.5)",
              "f32[1]", "f32[3,5] f32[1] f32[1]", "f32[5] f32[1,1,1] f32[]", "f32[] f32[1] f32[1]",
              "f64[3,5] f64(-0.25) f64(0.25)", "f16[5,7] f16(0) f16(0.5)", "bf16[9] bf16(0)",
              "i32{-5,0,7} i32(-2) i32(3)", "u8[5] u8(10) u8(50)", "i64{1,5,9} i64(6) i64(4)"},
};

}  // namespace tw::ops
