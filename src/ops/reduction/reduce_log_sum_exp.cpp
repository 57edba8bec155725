// reduce_log_sum_exp: logarithms of sums of exponentials over axes, shifted by the largest so that
// none overflows; of nothing, -infinity.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_log_sum_exp = {
    .name = "reduce_log_sum_exp",
    .doc = "y = log(sum of exp(x) over axes)",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceLogSumExp", 1, import_axes_attribute}, {"ReduceLogSumExp", 18}},

    .infer = infer_reduce<kFloats>,
    .reference =
        reduce_floats_with<[](const std::vector<double>& elements, [[maybe_unused]] DType dtype) {
          double largest = lowest_number<double>(dtype);
          for (const double x : elements) largest = larger_number(x, largest);
          if (std::isinf(largest)) return largest;
          double sum = 0;
          for (const double x : elements) sum += std::exp(x - largest);
          return largest + std::log(sum);
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kLogSumExp>,
    .cases = kReduceFloatCases,
};

}  // namespace tw::ops
