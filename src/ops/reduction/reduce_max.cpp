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
