// common_reduce.h: what the reduce_* ops share. Axes are an input, as in ONNX from opset 13 or 18
// on; before, they are an attribute. A reference sees the elements behind one output element as a
// list, so that each op states only its sum.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "ops/elementwise/common_ints.h"
#include "ops/lower.h"

namespace tw::ops {

using Cases = FixedList<std::string_view, 24>;

inline constexpr FixedList<ir::AttrDef, 16> kReduceAttrs = {{"keepdims", 1},
                                                            {"noop_with_empty_axes", 0}};

/// All axes, some, from the end, none; dims kept and dropped; an empty dim that is reduced and one
/// that is not.
inline constexpr Cases kReduceFloatCases = {
    "f32[1,64,768] i64{-1}",
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
};
/// As above, and integers.
inline constexpr Cases kReduceNumberCases = kReduceFloatCases.with({
    "i32[3,5] i64{1}",
    "i64{7,-3,5} i64{0} ; keepdims=0",
    "i32[2,0] i64{1}",
    "u8[4,3] i64{0}",
});
/// Of reductions that every type has, and whose empty sums are the type's bounds.
inline constexpr Cases kReduceBoundCases = kReduceFloatCases.with({
    "i32[3,5] i64{1}",
    "i64{7,-3,5} i64{0} ; keepdims=0",
    "i8[2,0] i64{1}",
    "u8[4,3] i64{0}",
    "u16[2,0] i64{1}",
    "bool[3,5] i64{1}",
    "bool[2,0] i64{1} ; keepdims=0",
    "u64{18446744073709549568,1} i64{0}",
});

/// Bit d is set when dim d is reduced. Empty `axes` stand for all dims, or none when
/// `noop_with_empty_axes`.
Result<uint32_t> reduced_dims(std::span<const int64_t> axes, int64_t rank,
                              bool noop_with_empty_axes);

/// Type of output 0 as `dtype`. Where only data can tell the axes, the dims are new symbols.
Result<void> infer_reduced_shape(ir::InferContext& c, DType dtype);
/// Known integers of the reduction of a whole list: fold(...fold(x[0], x[1])..., x[n]).
void fold_ints(ir::InferContext& c, Dim (*fold)(const Dim&, const Dim&));

/// The dims reduced by a node with concrete inputs.
Result<uint32_t> reduced_dims(const ir::EvalContext& c);
/// The output element that each element of `dims` belongs to, counted row-major.
std::vector<int64_t> group_of_elements(const Dims& dims, uint32_t reduced);
/// `dims` with the reduced ones as 1, or without them.
Dims reduced_shape(const Dims& dims, uint32_t reduced, bool keep_dims);

/// Emits the task of a reduction of input 0.
Result<void> emit_reduce(LowerContext& c, task::ReduceTask::Kind kind);

/// import hook: axes as an attribute become an input of the op that has this ONNX name.
Result<void> import_axes_attribute(ir::ImportContext& c);

/// The least and the greatest value of `dtype`, infinities for floats.
template <class T>
T lowest_number(DType dtype) {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::is_signed_v<T> ? static_cast<T>(~uint64_t{0} << (8 * size_bytes(dtype) - 1)) : T{0};
}
template <class T>
T highest_number(DType dtype) {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else if (dtype == DType::kBool)
    return T{1};
  else
    return static_cast<T>(~uint64_t{0} >>
                          (64 - 8 * size_bytes(dtype) + (std::is_signed_v<T> ? 1 : 0)));
}

template <TypeSet kAllowed>
Result<void> infer_reduce(ir::InferContext& c) {
  TRY(expect_type(c, 0, kAllowed));
  return infer_reduced_shape(c, c.in(0).dtype);
}

template <TypeSet kAllowed, Dim (*kFold)(const Dim&, const Dim&)>
Result<void> infer_reduce_ints(ir::InferContext& c) {
  TRY(infer_reduce<kAllowed>(c));
  fold_ints(c, kFold);
  return {};
}

/// reference hook: kFunction(elements as std::vector<T>, dtype) -> T for each output element, T as
/// in common_map.h.
template <auto kFunction>
Result<void> reduce_with(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  const uint32_t reduced = TRY(reduced_dims(c));
  TRY(c.allocate(0, x.dtype(), reduced_shape(x.dims(), reduced, c.attr_int("keepdims") != 0)));
  const std::vector<int64_t> group = group_of_elements(x.dims(), reduced);
  with_number_type(x.dtype(), [&]<class T>(T) {
    std::vector<std::vector<T>> elements(static_cast<size_t>(c.out(0).count()));
    for (int64_t i = 0; i < x.count(); ++i)
      elements[static_cast<size_t>(group[static_cast<size_t>(i)])].push_back(read_number<T>(x, i));
    for (int64_t i = 0; i < c.out(0).count(); ++i)
      write_number<T>(c.out(0), i, kFunction(elements[static_cast<size_t>(i)], x.dtype()));
  });
  return {};
}

/// The same for floats only: kFunction(elements as std::vector<double>, dtype) -> double.
template <auto kFunction>
Result<void> reduce_floats_with(ir::EvalContext& c) {
  return reduce_with<[]<class T>(const std::vector<T>& elements, DType dtype) {
    if constexpr (std::is_same_v<T, double>)
      return kFunction(elements, dtype);
    else
      return T{0};  // inference admits no integers
  }>(c);
}

template <task::ReduceTask::Kind kKind>
Result<void> lower_reduce(LowerContext& c) {
  return emit_reduce(c, kKind);
}

}  // namespace tw::ops
