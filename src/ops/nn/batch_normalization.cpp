// batch_normalization: inference only. It is a multiplication and an addition a channel; with
// constant statistics the factors fold to constants, and a convolution before it takes them up.
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_attr(c, "training_mode", 0));
  TRY(expect_attr(c, "spatial", 1));
  if (c.rank(0) < 1) return error(Code::kInvalidModel, "'x' has rank 0, expected at least 1");
  const Dim channels = c.rank(0) == 1 ? Dim(1) : c.shape(0)[1];
  for (size_t i = 1; i < 5; ++i) {
    TRY(expect_same_type(c, 0, i));
    TRY(expect_shape(c, i, {channels}));
  }
  c.out(0, c.in(0));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const std::vector<double> x = to_doubles(c.in(0)), scale = to_doubles(c.in(1)),
                            bias = to_doubles(c.in(2)), mean = to_doubles(c.in(3)),
                            variance = to_doubles(c.in(4));
  const Dims& dims = c.in(0).dims();
  size_t plane = 1;
  for (size_t d = 2; d < dims.size(); ++d) plane *= static_cast<size_t>(dims[d]);
  const double eps = c.attr_float("epsilon");
  std::vector<double> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t channel = i / plane % scale.size();
    const double inv_std = 1 / std::sqrt(variance[channel] + eps);
    y[i] = (x[i] - mean[channel]) * inv_std * scale[channel] + bias[channel];
  }
  from_doubles(y, c.out(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const size_t rank = c.type(0).shape.size();
  const ir::ValueId eps = s.scalar(c.type(0).dtype, c.attr_float("epsilon"));
  const ir::ValueId std_dev = s.op("sqrt", {s.op("add", {c.in(4), eps})});
  const ir::ValueId factor = s.op("div", {c.in(1), std_dev});
  const ir::ValueId shift = s.op("sub", {c.in(2), s.op("mul", {c.in(3), factor})});
  const ir::ValueId scaled = s.op("mul", {c.in(0), s.per_channel(factor, rank)});
  c.set_out(0, s.op("add", {scaled, s.per_channel(shift, rank)}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef batch_normalization = {
    .name = "batch_normalization",
    .doc =
        "y[n, c, ..] = (x[n, c, ..] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c]",
    .inputs = {"x", "scale", "bias", "mean", "variance"},
    .outputs = {"y"},
    .attrs = {{"epsilon", 1e-5}, {"momentum", 0.9}, {"spatial", 1}, {"training_mode", 0}},
    .onnx = {{"BatchNormalization", 7}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .cases = {"f32[2,3,5,7] f32[3] f32[3] f32[3] f32[3]>0",
              "f32[4,9] f32[9] f32[9] f32[9] f32[9]>0 ; epsilon=0.01 momentum=0.8 spatial=1 "
              "training_mode=0",
              "f32[0,3,5] f32[3] f32[3] f32[3] f32[3]>0",
              "f32[1,1,1] f32[1] f32[1] f32[1] f32[1]>0",
              "f32[1,64,56,56] f32[64] f32[64] f32[64] f32[64]>0"},
};

}  // namespace tw::ops
