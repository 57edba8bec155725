// reduce_l2: Euclidean lengths over axes; integers drop the fraction.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_l2 = {
    .name = "reduce_l2",
    .doc = "y = sqrt(sum of x^2 over axes)",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceL2", 1, import_axes_attribute}, {"ReduceL2", 18}},

    .infer = infer_reduce<kNumbers>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          double sum = 0;
          for (const T x : elements) sum += static_cast<double>(x) * static_cast<double>(x);
          return static_cast<T>(std::sqrt(sum));
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kL2>,
    .cases = kReduceNumberCases,
};

}  // namespace tw::ops
