// common_rows.h: ops that work along one axis see a tensor as rows: element k of row (outer, inner)
// lies `inner` elements behind element k - 1. Tasks take rows of the last dim only; lowering swaps
// the axis there and back.
#pragma once

#include <functional>

#include "ops/elementwise/common_types.h"
#include "ops/lower.h"

namespace tw::ops {

using Cases = FixedList<std::string_view, 24>;

struct Rows {
  int64_t n_outer = 1, length = 1, n_inner = 1;
  static Rows of(const Dims& dims, int64_t axis);
  int64_t at(int64_t outer, int64_t k, int64_t inner) const {
    return (outer * length + k) * n_inner + inner;
  }
  /// Calls visit(outer, inner) for each row.
  void for_each(const std::function<void(int64_t outer, int64_t inner)>& visit) const;
};

/// attr 'axis' in [0, rank); the node has passed inference.
int64_t axis_of(const ir::NodeView& c, int64_t rank);

/// 0, 1 .. rank - 1 with `axis` and the last exchanged; its own inverse.
std::vector<int64_t> swap_with_last(int64_t axis, size_t rank);

/// Slot `x` with `axis` last and row-major: itself, or a copy.
task::SlotId rows_last(LowerContext& c, task::SlotId x, DType dtype, int64_t axis);

/// import hook of softmax, log_softmax and hardmax before opset 13: dims before `axis` are the
/// rows, all behind it one row.
Result<void> import_coerced_to_2d(ir::ImportContext& c);

}  // namespace tw::ops
