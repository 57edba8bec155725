// reduce_l1: sums of magnitudes over axes.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_l1 = {
    .name = "reduce_l1",
    .doc = "y = sum of |x| over axes",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceL1", 1, import_axes_attribute}, {"ReduceL1", 18}},

    .infer = infer_reduce<kNumbers>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          T sum{0};
          for (const T x : elements)
            sum = x < T{0} ? subtract_numbers(sum, x) : add_numbers(sum, x);
          return sum;
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kSumAbs>,
    .cases = kReduceNumberCases,
};

}  // namespace tw::ops
