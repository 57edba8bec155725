// reduce_mean: averages over axes; integers round towards zero, and their mean of nothing is 0.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_mean = {
    .name = "reduce_mean",
    .doc = "y = mean of x over axes",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceMean", 1, import_axes_attribute}, {"ReduceMean", 18}},

    .infer = infer_reduce<kNumbers>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          if constexpr (std::is_floating_point_v<T>) {
            T sum{0};
            for (const T x : elements) sum += x;
            return sum / static_cast<T>(elements.size());
          } else {
            __int128 sum = 0;  // wider than any sum of elements
            for (const T x : elements) sum += x;
            return elements.empty() ? T{0}
                                    : static_cast<T>(sum / static_cast<int64_t>(elements.size()));
          }
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kMean>,
    .cases = kReduceNumberCases,
};

}  // namespace tw::ops
