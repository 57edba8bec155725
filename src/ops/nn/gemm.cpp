// gemm: ONNX Gemm, the matrix product with everything that BLAS adds to it. It has no task of its
// own: its decomposition is a linear (or a product and a sum), which passes and lowering know.
#include "ir/op_def.h"
#include "ops/elementwise/common_types.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_same_type(c, 0, 1));
  TRY(expect_same_type(c, 0, 2));
  if (c.rank(0) != 2 || c.rank(1) != 2)
    return error(Code::kInvalidModel, "'a' and 'b' have ranks ", c.rank(0), " and ", c.rank(1),
                 ", expected 2");
  const bool transpose_a = c.attr_int("transA") != 0, transpose_b = c.attr_int("transB") != 0;
  const Dim k = c.shape(0)[transpose_a ? 0 : 1];
  const ir::Shape y{c.shape(0)[transpose_a ? 1 : 0], c.shape(1)[transpose_b ? 0 : 1]};
  const Dim depth = c.shape(1)[transpose_b ? 1 : 0];
  if (surely_differ(k, depth))
    return error(Code::kInvalidModel, "rows of 'a' have ", k, " elements, columns of 'b' ", depth);
  if (c.has(2)) {
    const ir::Shape common = TRY(broadcast_shapes(c.shape(2), y).in("input 'c'"));
    if (common.size() != 2 || surely_differ(common[0], y[0]) || surely_differ(common[1], y[1]))
      return error(Code::kInvalidModel, "input 'c' has dims ", shape_text(c.shape(2)),
                   ", expected what broadcasts to ", shape_text(y));
  }
  if (!is_float(c.in(0).dtype) && (c.attr_float("alpha") != 1 || c.attr_float("beta") != 1))
    return error(Code::kUnsupported, "alpha or beta other than 1 for ", c.in(0).dtype);
  c.out(0, {c.in(0).dtype, y});
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const DType dtype = c.type(0).dtype;
  const auto scaled = [&](ir::ValueId x, double factor) {
    return factor == 1 ? x : s.op("mul", {x, s.scalar(dtype, factor)});
  };
  const ir::ValueId a = c.attr_int("transA") != 0 ? s.transpose(c.in(0), {1, 0}) : c.in(0);
  const ir::ValueId b = c.attr_int("transB") != 0 ? s.transpose(c.in(1), {1, 0}) : c.in(1);
  // alpha goes to b: as a rule that is the weight, and the product folds to a constant.
  const ir::ValueId weight = scaled(b, c.attr_float("alpha"));
  if (!c.has(2)) {
    c.set_out(0, s.op("matmul", {a, weight}));
    return s.status();
  }
  const ir::ValueId bias = scaled(c.in(2), c.attr_float("beta"));
  const ir::Shape bias_shape = c.type(2).shape;  // a copy: new nodes move values
  const bool is_row = bias_shape.size() == 1 && bias_shape[0] == c.out_type(0).shape[1];
  if (is_row && is_gemm_type(dtype))
    c.set_out(0, s.op("linear", {a, weight, bias}));
  else
    c.set_out(0, s.op("add", {s.op("matmul", {a, weight}), bias}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef gemm = {
    .name = "gemm",
    .doc =
        "y = alpha * a' x b' + beta * c, where a' and b' may be transposed and c broadcasts to y",
    .inputs = {"a", "b", "c?"},
    .outputs = {"y"},
    .attrs = {{"alpha", 1.0}, {"beta", 1.0}, {"transA", 0}, {"transB", 0}},
    .onnx = {{"Gemm", 7}},
    .infer = infer,
    .decompose = decompose,
    .cases = {"f32[5,7] f32[7,3] f32[3]",
              "f32[7,5] f32[3,7] f32[5,3] ; transA=1 transB=1 alpha=0.5 beta=2.0",
              "f32[5,7] f32[7,3]", "f32[5,7] f32[7,3] f32[5,1] ; beta=0.25",
              "f32[5,7] f32[7,3] f32[]", "f32[0,7] f32[7,3] f32[3]", "f32[1,1] f32[1,1] f32[1]",
              "i32[3,4] i32[4,2] i32[2]", "f32[1,512] f32[1000,512] f32[1000] ; transB=1"},
};

}  // namespace tw::ops
