// average_pool: the mean of each window. With count_include_pad, padding counts as zeros; what
// hangs over the padded input (ceil_mode) never counts.
#include "ir/op_def.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_pool.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  return infer_pool(c);
}

Result<void> reference(ir::EvalContext& c) {
  const bool count_padding = c.attr_int("count_include_pad") != 0;
  return evaluate_pool(c, [count_padding](const PoolWindow& window, auto&& each) {
    double sum = 0;
    int64_t n = 0;
    each([&](double x) {
      sum += x;
      ++n;
    });
    return sum / static_cast<double>(count_padding ? window.n_padded : n);
  });
}

Result<void> lower(LowerContext& c) {
  return lower_pool(c, task::PoolTask::Kind::kAverage, c.attr_int("count_include_pad") != 0);
}

}  // namespace

extern constinit const ir::OpDef average_pool = {
    .name = "average_pool",
    .doc = "y[n, c, o..] = the mean of x[n, c, o*stride - pad + tap*dilation..] over a window",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"auto_pad", "NOTSET"},
              {"ceil_mode", 0},
              {"count_include_pad", 0},
              {"dilations", {}},
              {"kernel_shape", {}},
              {"pads", {}},
              {"strides", {}},
              {"layout", "nchw"}},
    .onnx = {{"AveragePool", 7}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose_to_other_layout,
    .lower = lower,
    .cases = {"f32[2,3,7,9] ; kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
              "f32[2,3,7,9] ; kernel_shape=[3,3] strides=[2,2] pads=[1,0,1,2] count_include_pad=1",
              "f32[1,2,8,8] ; kernel_shape=[3,2] strides=[2,3] ceil_mode=1 pads=[1,0,1,0] "
              "count_include_pad=1",
              "f32[1,2,9,9] ; kernel_shape=[2,3] dilations=[2,2]",
              "f32[1,3,10] ; kernel_shape=[4] strides=[3] auto_pad=\"SAME_UPPER\"",
              "f32[1,2,4,5,6] ; kernel_shape=[2,2,2] auto_pad=\"SAME_LOWER\"",
              "f32[0,3,5,5] ; kernel_shape=[2,2]", "f32[1,1,1,1] ; kernel_shape=[1,1]",
              "f32[2,7,9,3] ; kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] layout=\"nhwc\"",
              "f32[1,48,56,12] ; kernel_shape=[3,2] strides=[3,2] layout=\"nhwc\""},
};

}  // namespace tw::ops
