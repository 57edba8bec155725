// lrn: local response normalisation across channels. The window sum is an average pool over the
// channel axis: x gets a channel axis of 1 in front, padding counts, so that each window's mean is
// its sum by the same divisor.
#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  if (c.rank(0) < 2 || c.rank(0) > 4)
    return error(Code::kUnsupported, "'x' has rank ", c.rank(0), ", 2 to 4 are supported");
  if (c.attr_int("size") < 1)
    return error(Code::kInvalidModel, "attribute 'size' is ", c.attr_int("size"),
                 ", expected at least 1");
  c.out(0, c.in(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const ir::ValueId x = c.in(0);
  const DType dtype = c.type(0).dtype;
  const size_t n_spatial = c.type(0).shape.size() - 1;
  const int64_t size = c.attr_int("size");
  std::vector<int64_t> kernel(n_spatial, 1), pads(2 * n_spatial, 0);
  kernel[0] = size;
  pads[0] = (size - 1) / 2;
  pads[n_spatial] = size - 1 - pads[0];
  const ir::ValueId squares = s.unsqueeze(s.op("mul", {x, x}), {1});
  const ir::ValueId means =
      s.op("average_pool", {squares},
           {{"kernel_shape", kernel}, {"pads", pads}, {"count_include_pad", int64_t{1}}});
  const ir::ValueId scaled =
      s.op("mul", {s.squeeze(means, {1}), s.scalar(dtype, c.attr_float("alpha"))});
  const ir::ValueId base = s.op("add", {scaled, s.scalar(dtype, c.attr_float("bias"))});
  c.set_out(0, s.op("div", {x, s.op("pow", {base, s.scalar(dtype, c.attr_float("beta"))})}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef lrn = {
    .name = "lrn",
    .doc = "y = x / (bias + alpha / size * sum of x^2 over `size` neighbouring channels)^beta",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"alpha", 0.0001}, {"beta", 0.75}, {"bias", 1.0}, {"size", {}}},
    .onnx = {{"LRN", 1}},
    .infer = infer,
    .decompose = decompose,
    .cases = {"f32[2,5,3,7] ; size=3 alpha=0.9", "f32[1,6,5] ; size=4 alpha=0.5 beta=0.5 bias=2.0",
              "f32[0,3,2,2] ; size=3", "f32[1,1,1,1] ; size=5", "f32[1,96,27,27] ; size=5"},
};

}  // namespace tw::ops
