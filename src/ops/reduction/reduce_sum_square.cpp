// reduce_sum_square: sums of squares over axes.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_sum_square = {
    .name = "reduce_sum_square",
    .doc = "y = sum of x^2 over axes",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceSumSquare", 1, import_axes_attribute}, {"ReduceSumSquare", 18}},

    .infer = infer_reduce<kNumbers>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          T sum{0};
          for (const T x : elements) sum = add_numbers(sum, multiply_numbers(x, x));
          return sum;
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kSumSquare>,
    .cases = kReduceNumberCases,
};

}  // namespace tw::ops
