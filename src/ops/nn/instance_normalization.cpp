// instance_normalization: each channel of each image to mean 0 and variance 1, then scaled and
// shifted a channel.
#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  if (c.rank(0) < 3)
    return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected at least 3");
  for (size_t i = 1; i < 3; ++i) {
    TRY(expect_same_type(c, 0, i));
    TRY(expect_shape(c, i, {c.shape(0)[1]}));
  }
  c.out(0, c.in(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const size_t rank = c.type(0).shape.size();
  const ir::ValueId normal = s.normalize(c.in(0), iota(rank - 2, 2), c.attr_float("epsilon"));
  const ir::ValueId scaled = s.op("mul", {normal, s.per_channel(c.in(1), rank)});
  c.set_out(0, s.op("add", {scaled, s.per_channel(c.in(2), rank)}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef instance_normalization = {
    .name = "instance_normalization",
    .doc =
        "y[n, c, ..] = (x[n, c, ..] - mean) / sqrt(variance + epsilon) * scale[c] + bias[c], "
        "statistics of x[n, c, ..]",
    .inputs = {"x", "scale", "bias"},
    .outputs = {"y"},
    .attrs = {{"epsilon", 1e-5}},
    .onnx = {{"InstanceNormalization", 1}},
    .infer = infer,
    .decompose = decompose,
    .cases = {"f32[2,3,5,7] f32[3] f32[3]", "f32[1,4,9] f32[4] f32[4] ; epsilon=0.01",
              "f32[0,3,5] f32[3] f32[3]", "f32[1,1,1] f32[1] f32[1]",
              "f32[1,32,64,64] f32[32] f32[32]"},
};

}  // namespace tw::ops
