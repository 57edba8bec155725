// reduce_sum: sums over axes; the sum of nothing is 0.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_sum = {
    .name = "reduce_sum",
    .doc = "y = sum of x over axes",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceSum", 1, import_axes_attribute}, {"ReduceSum", 13}},

    .infer = infer_reduce_ints<kNumbers, [](const Dim& a, const Dim& b) { return a + b; }>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          T sum{0};
          for (const T x : elements) sum = add_numbers(sum, x);
          return sum;
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kSum>,
    .cases = kReduceNumberCases,
};

}  // namespace tw::ops
