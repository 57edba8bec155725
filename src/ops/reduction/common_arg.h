// common_arg.h: arg_max and arg_min differ only in the comparison.
#pragma once

#include "ops/elementwise/common_map.h"
#include "ops/reduction/common_rows.h"

namespace tw::ops {

inline constexpr FixedList<ir::AttrDef, 16> kArgAttrs = {
    {"axis", 0}, {"keepdims", 1}, {"select_last_index", 0}};
inline constexpr Cases kArgCases = {
    "f32[1,64,768] ; axis=-1",
    "f32[7,5]",
    "f32[7,5] ; axis=1 keepdims=0",
    "f32[3,5,2] ; axis=1",
    "f32{2,5,5,1,1} ; axis=0",
    "f32{2,5,5,1,1} ; axis=0 select_last_index=1",
    "f32[4,1] ; axis=1",
    "f32[3,0] ; axis=0",
    "f64[3,5]",
    "f16[5,7] ; axis=1",
    "bf16[9]",
    "i32[3,5]<4 ; axis=1",
    "i64[7]<3 ; select_last_index=1",
    "u8[5,3]<4 ; keepdims=0",
    "i8{-3,4,-9}",
};

/// infer hook: i64 along `axis`, which must hold an element to choose.
Result<void> infer_arg(ir::InferContext& c);
Result<void> emit_arg(LowerContext& c, task::ReduceTask::Kind kind);

/// reference hook: kBetter(x, best) says that x takes best's place.
template <auto kBetter>
Result<void> arg_with(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  const Rows rows = Rows::of(x.dims(), axis_of(c, x.rank()));
  const bool last = c.attr_int("select_last_index") != 0;
  with_number_type(x.dtype(), [&]<class T>(T) {
    rows.for_each([&](int64_t outer, int64_t inner) {
      int64_t best = 0;
      for (int64_t k = 1; k < rows.length; ++k) {
        const T candidate = read_number<T>(x, rows.at(outer, k, inner));
        const T leader = read_number<T>(x, rows.at(outer, best, inner));
        if (kBetter(candidate, leader) || (last && candidate == leader)) best = k;
      }
      c.out(0).set_int(outer * rows.n_inner + inner, best);
    });
  });
  return {};
}

template <task::ReduceTask::Kind kKind>
Result<void> lower_arg(LowerContext& c) {
  return emit_arg(c, kKind);
}

}  // namespace tw::ops
