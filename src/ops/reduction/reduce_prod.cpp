// reduce_prod: products over axes; the product of nothing is 1.
#include "ops/reduction/common_reduce.h"

namespace tw::ops {

extern constinit const ir::OpDef reduce_prod = {
    .name = "reduce_prod",
    .doc = "y = product of x over axes",
    .inputs = {"x", "axes?"},
    .outputs = {"y"},
    .attrs = kReduceAttrs,
    .onnx = {{"ReduceProd", 1, import_axes_attribute}, {"ReduceProd", 18}},

    .infer = infer_reduce_ints<kNumbers, [](const Dim& a, const Dim& b) { return a * b; }>,
    .reference =
        reduce_with<[]<class T>(const std::vector<T>& elements, [[maybe_unused]] DType dtype) {
          T product{1};
          for (const T x : elements) product = multiply_numbers(product, x);
          return product;
        }>,
    .lower = lower_reduce<task::ReduceTask::Kind::kProd>,
    .cases = kReduceNumberCases,
};

}  // namespace tw::ops
