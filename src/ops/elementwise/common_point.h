// common_point.h: pointwise hooks that elementwise ops share.
#pragma once

#include "ops/lower.h"

namespace tw::ops {

/// y = op(x).
template <task::PointOp kOp>
Result<void> emit_unary(PointwiseContext& c) {
  c.set_out(c.emit(kOp, c.in_type(0).dtype, c.in(0)));
  return {};
}

/// y = op(a, b), computed in the type of the inputs.
template <task::PointOp kOp>
Result<void> emit_binary(PointwiseContext& c) {
  c.set_out(c.emit(kOp, c.in_type(0).dtype, c.in(0), c.in(1)));
  return {};
}

/// y = op(...op(x0, x1) ..., xn).
template <task::PointOp kOp>
Result<void> emit_variadic(PointwiseContext& c) {
  uint8_t value = c.in(0);
  for (size_t i = 1; i < c.n_inputs(); ++i) value = c.emit(kOp, c.in_type(0).dtype, value, c.in(i));
  c.set_out(value);
  return {};
}

}  // namespace tw::ops
