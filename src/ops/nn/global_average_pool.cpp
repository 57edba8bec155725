// global_average_pool: one mean a channel.
#include <numeric>

#include "ir/op_def.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_global_pool.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  return infer_global_pool(c);
}

Result<void> reference(ir::EvalContext& c) {
  return evaluate_global_pool(c, [](const double* begin, const double* end) {
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  });
}

Result<void> lower(LowerContext& c) { return lower_global_pool(c, task::ReduceTask::Kind::kMean); }

}  // namespace

extern constinit const ir::OpDef global_average_pool = {
    .name = "global_average_pool",
    .doc = "y[n, c, 1..] = the mean of x[n, c, ..]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"layout", "nchw"}},
    .onnx = {{"GlobalAveragePool", 1}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose_to_other_layout,
    .lower = lower,
    .cases = {"f32[2,3,5,7]", "f32[1,4,9]", "f32[0,3,5,5]", "f32[1,1,1,1]", "f32[2,3,2,3,4]",
              "f32[2,5,7,3] ; layout=\"nhwc\"", "f16[1,9,4] ; layout=\"nhwc\"", "f32[1,512,7,7]"},
};

}  // namespace tw::ops
