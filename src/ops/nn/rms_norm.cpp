// rms_norm: each row (the dims from `axis` on) divided by its root mean square: the normalisation
// of Llama-family models.
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_norm.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(infer_norm(c));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Dims& dims = c.in(0).dims();
  const Dims rows = *ir::concrete(norm_rows(ir::to_shape(dims), norm_axis(c, dims.size())));
  const int64_t n = rows[1];
  const double eps = c.attr_float("epsilon");
  const std::vector<double> x = to_doubles(c.in(0)), scale = to_doubles(c.in(1));
  std::vector<double> y(x.size());
  for (int64_t r = 0; r < rows[0]; ++r) {
    const double* const from = x.data() + r * n;
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += from[i] * from[i];
    const double factor = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (int64_t i = 0; i < n; ++i)
      y[static_cast<size_t>(r * n + i)] = from[i] * factor * scale[static_cast<size_t>(i)];
  }
  from_doubles(y, c.out(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const size_t rank = c.type(0).shape.size(), axis = norm_axis(c, rank);
  const ir::ValueId x = c.in(0);
  const ir::ValueId squares =
      s.mean(s.op("mul", {x, x}), iota(rank - axis, static_cast<int64_t>(axis)));
  const ir::ValueId eps = s.scalar(c.type(0).dtype, c.attr_float("epsilon"));
  const ir::ValueId rms = s.op("sqrt", {s.op("add", {squares, eps})});
  c.set_out(0, s.op("mul", {s.op("div", {x, rms}), c.in(1)}));
  return s.status();
}

Result<void> lower(LowerContext& c) { return lower_norm(c, task::NormTask::Kind::kRms); }

}  // namespace

extern constinit const ir::OpDef rms_norm = {
    .name = "rms_norm",
    .doc = "y = x / sqrt(mean(x^2) + epsilon) * scale over the dims from axis on",
    .inputs = {"x", "scale"},
    .outputs = {"y"},
    .attrs = {{"axis", -1}, {"epsilon", 1e-5}, {"stash_type", 1}},
    .onnx = {{"RMSNormalization", 23}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .lower = lower,
    .cases = {"f32[7,33] f32[33]", "f32[2,3,7] f32[3,7] ; axis=1 epsilon=0.01 stash_type=1",
              "f32[0,8] f32[8]", "f32[3,1] f32[1]", "bf16[1,4096] bf16[4096]",
              "f32[4,1024] f32[1024]"},
};

}  // namespace tw::ops
