// reduce_max: the largest over axes; of nothing, the least value of the type.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_max = {
    .name = "reduce_max",
    .doc = "y = largest of x over axes; any of x for bool",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceMax", 1, import_axes_attribute}, {"ReduceMax", 18}},

    .infer = infer_reduce_ints<kAnyType, larger_dim>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          T largest = lowest_number<T>(dtype);
          for (const T x : elements) largest = larger_number(x, largest);
          return largest;
        }>,
    .lower = [](LowerContext& c) -> Result<void> {
      const bool is_bool = c.in_type(0).dtype == DType::kBool;
      return emit_reduce(c, is_bool ? task::ReduceTask::Kind::kAny : task::ReduceTask::Kind::kMax);
    },
    .cases = kReduceBoundCases,
};

}  // namespace tw::ops
