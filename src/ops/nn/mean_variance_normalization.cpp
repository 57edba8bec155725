// mean_variance_normalization: mean 0 and variance 1 over the given axes; no scale, no shift.
#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

std::vector<int64_t> axes_of(const ir::NodeView& view) {
  std::vector<int64_t> axes = view.attr_ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  return axes;
}

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  for (const int64_t axis : axes_of(c)) TRY(c.axis(axis, c.rank(0), "attribute 'axes'"));
  c.out(0, c.in(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const std::vector<int64_t> axes = axes_of(c);
  const ir::ValueId centred = s.op("sub", {c.in(0), s.mean(c.in(0), axes)});
  const ir::ValueId std_dev = s.op("sqrt", {s.mean(s.op("mul", {centred, centred}), axes)});
  // The specification keeps a constant input from dividing by zero by this much on the deviation.
  const ir::ValueId divisor = s.op("add", {std_dev, s.scalar(c.type(0).dtype, 1e-9)});
  c.set_out(0, s.op("div", {centred, divisor}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef mean_variance_normalization = {
    .name = "mean_variance_normalization",
    .doc = "y = (x - mean) / (standard deviation + 1e-9) over axes",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"axes", {}}},
    .onnx = {{"MeanVarianceNormalization", 9}},
    .infer = infer,
    .decompose = decompose,
    .cases = {"f32[2,3,5,7]", "f32[3,7] ; axes=[-1]", "f32[2,0,3,4]", "f32[2,3,2,2] ; axes=[1,2,3]",
              "f32[1,16,64,64]"},
};

}  // namespace tw::ops
