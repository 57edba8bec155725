// common_types.h: type rules that elementwise ops share: which dtypes an input may have, and
// numpy's broadcasting of shapes whose dims may be expressions.
#pragma once

#include "ir/op_def.h"

namespace tw::ops {

/// Sets of dtypes, as a bit mask.
enum TypeSet : unsigned {
  kFloats = 1,
  kSignedInts = 2,
  kUnsignedInts = 4,
  kBools = 8,
  kInts = kSignedInts | kUnsignedInts,
  kNumbers = kFloats | kInts,
  kAnyType = kNumbers | kBools,
};

/// Fails with a sentence that names the input when its dtype is not in `allowed`.
Result<void> expect_type(const ir::InferContext& c, size_t input, TypeSet allowed);
/// Fails when inputs `first` .. n_inputs() differ in dtype.
Result<void> expect_same_dtype(const ir::InferContext& c, size_t first = 0);

/// The common dim of two that broadcast. A constant other than 1 wins over a symbol; between two
/// expressions that are not known to be equal the result is a, or b where a is 1.
Result<Dim> broadcast_dim(const Dim& a, const Dim& b);
Result<ir::Shape> broadcast_shapes(const ir::Shape& a, const ir::Shape& b);
/// The common shape of all inputs from `first` on.
Result<ir::Shape> broadcast_inputs(const ir::InferContext& c, size_t first = 0);

/// The element of a tensor of dims `from` that element `i` of its broadcast to `to` reads; both
/// counted row-major.
int64_t broadcast_index(const Dims& to, const Dims& from, int64_t i);

/// infer hook: one input of these types, the output is alike.
template <TypeSet kAllowed>
Result<void> infer_unary(ir::InferContext& c) {
  TRY(expect_type(c, 0, kAllowed));
  c.out(0, c.in(0));
  return {};
}

/// infer hook: inputs of one dtype that broadcast, the output has the common shape and the same
/// dtype.
template <TypeSet kAllowed>
Result<void> infer_broadcast(ir::InferContext& c) {
  TRY(expect_type(c, 0, kAllowed));
  TRY(expect_same_dtype(c));
  c.out(0, {c.in(0).dtype, TRY(broadcast_inputs(c))});
  return {};
}

}  // namespace tw::ops
