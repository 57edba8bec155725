// layer_normalization: each row (the dims from `axis` on) to mean 0 and variance 1, then scaled and
// shifted. The statistics are optional outputs in f32.
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_norm.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const int64_t axis = TRY(infer_norm(c));
  ir::Shape statistics = c.shape(0);
  for (size_t d = static_cast<size_t>(axis); d < statistics.size(); ++d) statistics[d] = Dim(1);
  c.out(1, {DType::kF32, statistics});
  c.out(2, {DType::kF32, statistics});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Dims& dims = c.in(0).dims();
  const Dims rows = *ir::concrete(norm_rows(ir::to_shape(dims), norm_axis(c, dims.size())));
  const int64_t n = rows[1];
  const double eps = c.attr_float("epsilon");
  const std::vector<double> x = to_doubles(c.in(0)), scale = to_doubles(c.in(1));
  std::vector<double> bias(static_cast<size_t>(n), 0.0);
  if (c.has(2)) bias = to_doubles(c.in(2));
  std::vector<double> y(x.size());
  for (int64_t r = 0; r < rows[0]; ++r) {
    const double* const from = x.data() + r * n;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += from[i];
    const double mean = sum / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const double inv_std = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      y[static_cast<size_t>(r * n + i)] = (from[i] - mean) * inv_std * scale[at] + bias[at];
    }
    if (c.has_out(1)) c.out(1).set_float(r, mean);
    if (c.has_out(2)) c.out(2).set_float(r, inv_std);
  }
  from_doubles(y, c.out(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  const DType dtype = c.type(0).dtype;
  if ((c.has_out(1) || c.has_out(2)) && dtype != DType::kF32)
    return error(Code::kUnsupported, "statistics of ", dtype, " rows, expected f32");
  Steps s(c.b());
  const size_t rank = c.type(0).shape.size(), axis = norm_axis(c, rank);
  const std::vector<int64_t> axes = iota(rank - axis, static_cast<int64_t>(axis));
  const ir::ValueId mean = s.mean(c.in(0), axes);
  const ir::ValueId centred = s.op("sub", {c.in(0), mean});
  const ir::ValueId variance = s.mean(s.op("mul", {centred, centred}), axes);
  const ir::ValueId std_dev =
      s.op("sqrt", {s.op("add", {variance, s.scalar(dtype, c.attr_float("epsilon"))})});
  const ir::ValueId inv_std = s.op("reciprocal", {std_dev});
  ir::ValueId y = s.op("mul", {s.op("mul", {centred, inv_std}), c.in(1)});
  if (c.has(2)) y = s.op("add", {y, c.in(2)});
  c.set_out(0, y);
  if (c.has_out(1)) c.set_out(1, mean);
  if (c.has_out(2)) c.set_out(2, inv_std);
  return s.status();
}

Result<void> lower(LowerContext& c) { return lower_norm(c, task::NormTask::Kind::kLayer); }

}  // namespace

extern constinit const ir::OpDef layer_normalization = {
    .name = "layer_normalization",
    .doc = "y = (x - mean) / sqrt(variance + epsilon) * scale + bias over the dims from axis on",
    .inputs = {"x", "scale", "bias?"},
    .outputs = {"y", "mean?", "inv_std?"},
    .attrs = {{"axis", -1}, {"epsilon", 1e-5}, {"stash_type", 1}},
    .onnx = {{"LayerNormalization", 1}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .lower = lower,
    .cases = {"f32[5,33] f32[33] f32[33]", "f32[2,3,7] f32[7] ; epsilon=0.01 stash_type=1",
              "f32[2,3,7] f32[3,7] f32[3,7] ; axis=1 outputs=3",
              "f32[4,9] f32[9] f32[9] ; outputs=2", "f32[0,8] f32[8] f32[8]",
              "f32[3,1] f32[1] f32[1]", "f16[3,64] f16[64] f16[64]", "bf16[5,40] bf16[40]",
              "f32[1,128,384] f32[384] f32[384]"},
};

}  // namespace tw::ops
