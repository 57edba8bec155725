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
    .cases = {"f32[1,64,768] i64{-1}",
              "f32[1,16,7,7] i64{2,3} ; keepdims=0",
              "f32[3,5]",
              "f32[3,5] ; keepdims=0",
              "f32[3,5] ; noop_with_empty_axes=1",
              "f32[2,0,3] i64{1}",
              "f32[2,0,3] i64{0} ; keepdims=0",
              "f32[]",
              "f32[1,1] i64{0,1}",
              "f64[3,5] i64{0}",
              "f16[5,7] i64{1}",
              "bf16[9] i64{0}",
              "i32[3,5] i64{1}",
              "i64{7,-3,5} i64{0} ; keepdims=0",
              "i8[2,0] i64{1}",
              "u8[4,3] i64{0}",
              "u16[2,0] i64{1}",
              "bool[3,5] i64{1}",
              "bool[2,0] i64{1} ; keepdims=0",
              "u64{18446744073709549568,1} i64{0}"},
};

}  // namespace tw::ops
