// eye_like: ones on one diagonal of a matrix with x's dims; x's elements do not matter.
#include "ir/op_def.h"
#include "ops/elementwise/common_dtype.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  if (c.rank(0) != 2) return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected 2");
  DType dtype = c.in(0).dtype;
  if (c.has_attr("dtype")) {
    const auto named = find_dtype(c.attr_string("dtype"));
    if (!named)
      return error(Code::kInvalidModel, "attribute 'dtype' is '", c.attr_string("dtype"),
                   "', expected a type's name");
    dtype = *named;
  }
  c.out(0, {dtype, c.shape(0)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const int64_t n_rows = c.out(0).dims()[0], n_cols = c.out(0).dims()[1];
  for (int64_t row = 0; row < n_rows; ++row) {
    const int64_t col = row + c.attr_int("k");
    if (col >= 0 && col < n_cols) c.out(0).set_float(row * n_cols + col, 1);
  }
  return {};
}

Result<void> lower(LowerContext& c) {
  using task::PointOp;
  CodeWriter code(0);
  const uint8_t diagonal = code.ints(PointOp::kAdd, code.index(0), code.literal(c.attr_int("k")));
  const uint8_t hit = code.ints(PointOp::kEqual, diagonal, code.index(1));
  const uint8_t element = code.cast(hit, DType::kI64, c.out_type(0).dtype);
  emit_program(c, code.finish({element}), {}, {c.out(0)});
  return {};
}

/// ONNX numbers the types; here they have names.
Result<void> import_eye_like(ir::ImportContext& c) {
  if (c.attrs().contains("dtype")) {
    const DType dtype = TRY(dtype_from_onnx(c.attr_int("dtype", 0)).in("attribute 'dtype'"));
    c.attrs().insert_or_assign("dtype", std::string(dtype_name(dtype)));
  }
  c.set_out(0, TRY(c.b().op("eye_like", {c.in(0)}, c.attrs())));
  c.attrs().clear();
  return {};
}

}  // namespace

extern constinit const ir::OpDef eye_like = {
    .name = "eye_like",
    .doc = "y[i, j] = 1 where j = i + k, else 0; dims (and without dtype the type) of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"dtype", {}}, {"k", 0}},
    .onnx = {{"EyeLike", 9, import_eye_like}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[5,7]", "f32[7,5] ; k=-2", "i32[3,3] ; k=1 dtype=\"f64\"", "f32[0,4]",
              "bool[1,9] ; k=3", "f16[128,128] ; dtype=\"i64\""},
};

}  // namespace tw::ops
