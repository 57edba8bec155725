// global_max_pool: the largest element of each channel.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/nn/common_global_pool.h"

namespace tw::ops {
namespace {

Result<void> reference(ir::EvalContext& c) {
  if (c.in(0).count() == 0 && c.out(0).count() != 0)
    return error(Code::kInvalidModel, "'x' has no elements to take the largest of");
  return evaluate_global_pool(
      c, [](const double* begin, const double* end) { return *std::max_element(begin, end); });
}

Result<void> lower(LowerContext& c) { return lower_global_pool(c, task::ReduceTask::Kind::kMax); }

}  // namespace

extern constinit const ir::OpDef global_max_pool = {
    .name = "global_max_pool",
    .doc = "y[n, c, 1..] = the largest x[n, c, ..]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"layout", "nchw"}},
    .onnx = {{"GlobalMaxPool", 1}},
    .infer = infer_global_pool,
    .reference = reference,
    .decompose = decompose_to_other_layout,
    .lower = lower,
    .cases = {"f32[2,3,5,7]", "f32[1,4,9]", "f32[0,3,5,5]", "f32[1,1,1,1]",
              "f32[2,5,7,3] ; layout=\"nhwc\"", "f32[1,512,7,7]"},
};

}  // namespace tw::ops
