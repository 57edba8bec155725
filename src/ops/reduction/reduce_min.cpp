// reduce_min: the smallest over axes; of nothing, the greatest value of the type.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_min = {
    .name = "reduce_min",
    .doc = "y = smallest of x over axes; all of x for bool",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceMin", 1, import_axes_attribute}, {"ReduceMin", 18}},

    .infer = infer_reduce_ints<kAnyType, smaller_dim>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          T smallest = highest_number<T>(dtype);
          for (const T x : elements) smallest = smaller_number(x, smallest);
          return smallest;
        }>,
    .lower = [](LowerContext& c) -> Result<void> {
      const bool is_bool = c.in_type(0).dtype == DType::kBool;
      return emit_reduce(c, is_bool ? task::ReduceTask::Kind::kAll : task::ReduceTask::Kind::kMin);
    },
    .cases = kReduceBoundCases,
};

}  // namespace tw::ops
