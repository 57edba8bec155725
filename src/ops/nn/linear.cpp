// linear: rows times a matrix plus a bias. Exporters write it as MatMul and Add; a pass fuses them
// into this op.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_matmul.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_same_type(c, 0, 1));
  TRY(expect_same_type(c, 0, 2));
  if (c.rank(0) < 1 || c.rank(1) != 2)
    return error(Code::kInvalidModel, "'x' and 'w' have ranks ", c.rank(0), " and ", c.rank(1),
                 ", expected at least 1 and exactly 2");
  TRY(expect_shape(c, 1, {c.shape(0).back(), c.shape(1)[1]}));
  TRY(expect_shape(c, 2, {c.shape(1)[1]}));
  ir::Shape y = c.shape(0);
  y.back() = c.shape(1)[1];
  c.out(0, {c.in(0).dtype, y});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const std::vector<double> x = to_doubles(c.in(0)), w = to_doubles(c.in(1));
  const int64_t k = c.in(1).dims()[0], n = c.in(1).dims()[1];
  const int64_t n_rows = n == 0 ? 0 : c.out(0).count() / n;
  std::vector<double> y(static_cast<size_t>(n_rows * n));
  add_product(x.data(), w.data(), y.data(), n_rows, n, k);
  if (c.has(2)) {
    const std::vector<double> bias = to_doubles(c.in(2));
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
  }
  from_doubles(y, c.out(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  const ir::ValueId product = TRY(c.b().op("matmul", {c.in(0), c.in(1)}));
  c.set_out(0, c.has(2) ? TRY(c.b().op("add", {product, c.in(2)})) : product);
  return {};
}

Result<void> lower(LowerContext& c) {
  if (!is_gemm_type(c.in_type(0).dtype))
    return error(Code::kUnsupported, "linear of ", c.in_type(0).dtype,
                 ", expected f32, f16 or bf16");
  task::GemmTask task;
  task.a = {c.reshape(c.in(0), as_rows(c.in_type(0).shape))};
  task.b = {c.in(1)};
  if (c.has(2)) task.bias = {c.in(2)};
  task.c = {c.reshape(c.out(0), as_rows(c.out_type(0).shape))};
  c.emit(task);
  return {};
}

}  // namespace

extern constinit const ir::OpDef linear = {
    .name = "linear",
    .doc = "y[.., n] = sum_k x[.., k] * w[k, n] + bias[n]",
    .inputs = {"x", "w", "bias?"},
    .outputs = {"y"},
    .attrs = {},
    .onnx = {},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .lower = lower,
    .cases = {"f32[5,7] f32[7,3] f32[3]", "f32[2,3,33] f32[33,17]", "f32[7] f32[7,3] f32[3]",
              "f32[0,7] f32[7,3] f32[3]", "f32[1,1] f32[1,1] f32[1]",
              "bf16[3,64] bf16[64,32] bf16[32]", "f16[4,31] f16[31,9] f16[9]",
              "f32[1,128,384] f32[384,384] f32[384]"},
};

}  // namespace tw::ops
