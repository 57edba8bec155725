// reduce_log_sum: logarithms of sums over axes; of nothing, -infinity.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_log_sum = {
    .name = "reduce_log_sum",
    .doc = "y = log(sum of x over axes)",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceLogSum", 1, import_axes_attribute}, {"ReduceLogSum", 18}},

    .infer = infer_reduce<kFloats>,
    .reference =
        reduce_floats_with<[](const std::vector<double>& elements, [[maybe_unused]] DType dtype) {
          double sum = 0;
          for (const double x : elements) sum += x;
          return std::log(sum);
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kLogSum>,
    .cases = {"f32[1,64,768]>0 i64{-1}", "f32[1,16,7,7]>0 i64{2,3} ; keepdims=0", "f32[3,5]>0",
              "f32[3,5]>0 ; keepdims=0", "f32[3,5]>0 ; noop_with_empty_axes=1",
              "f32[2,0,3]>0 i64{1}", "f32[2,0,3]>0 i64{0} ; keepdims=0", "f32[]>0",
              "f64[3,5]>0 i64{0}", "f16[5,7]>0 i64{1}", "bf16[9]>0 i64{0}"},
};

}  // namespace tw::ops
