// max_pool: the largest element of each window; padding never wins.
#include <algorithm>
#include <limits>

#include "ir/op_def.h"
#include "ops/nn/common_pool.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  if (c.has_out(1)) return error(Code::kUnsupported, "output 'indices' is not supported");
  return infer_pool(c);
}

Result<void> reference(ir::EvalContext& c) {
  return evaluate_pool(c, [](const PoolWindow&, auto&& each) {
    double largest = -std::numeric_limits<double>::infinity();
    each([&](double x) { largest = std::max(largest, x); });
    return largest;
  });
}

Result<void> lower(LowerContext& c) { return lower_pool(c, task::PoolTask::Kind::kMax, false); }

}  // namespace

extern constinit const ir::OpDef max_pool = {
    .name = "max_pool",
    .doc = "y[n, c, o..] = the largest x[n, c, o*stride - pad + tap*dilation..] of a window",
    .inputs = {"x"},
    .outputs = {"y", "indices?"},
    .attrs = {{"auto_pad", "NOTSET"},
              {"ceil_mode", 0},
              {"dilations", {}},
              {"kernel_shape", {}},
              {"pads", {}},
              {"storage_order", 0},
              {"strides", {}},
              {"layout", "nchw"}},
    .onnx = {{"MaxPool", 1}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose_to_other_layout,
    .lower = lower,
    .cases = {"f32[2,3,7,9] ; kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
              "f32[1,2,8,8] ; kernel_shape=[3,2] strides=[2,3] ceil_mode=1 storage_order=0",
              "f32[1,2,9,9] ; kernel_shape=[2,3] dilations=[2,2]",
              "f32[1,3,10] ; kernel_shape=[4] strides=[3] auto_pad=\"SAME_UPPER\"",
              "f32[1,2,4,5,6] ; kernel_shape=[2,2,2] auto_pad=\"SAME_LOWER\"",
              "f32[0,3,5,5] ; kernel_shape=[2,2]", "f32[1,1,1,1] ; kernel_shape=[1,1]",
              "f32[2,7,9,3] ; kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] layout=\"nhwc\"",
              "f16[1,6,5,4] ; kernel_shape=[2,2] layout=\"nhwc\"",
              "f32[1,64,56,56] ; kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"},
};

}  // namespace tw::ops
