#include "ops/nn/common_norm.h"

#include "ir/op_def.h"

#include "ops/nn/common_check.h"

namespace tw::ops {

Result<int64_t> infer_norm(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_attr(c, "stash_type", 1));
  const int64_t axis = TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  const ir::Shape normalized(c.shape(0).begin() + axis, c.shape(0).end());
  TRY(expect_shape(c, 1, normalized));
  TRY(expect_same_type(c, 0, 1));
  if (c.node().op->inputs.size() > 2) {
    TRY(expect_shape(c, 2, normalized));
    TRY(expect_same_type(c, 0, 2));
  }
  c.out(0, c.in(0));
  return axis;
}

size_t norm_axis(const ir::NodeView& view, size_t rank) {
  const int64_t axis = view.attr_int("axis");
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

ir::Shape norm_rows(const ir::Shape& x, size_t axis) {
  const auto at = x.begin() + static_cast<int64_t>(axis);
  return {ir::element_count(ir::Shape(x.begin(), at)), ir::element_count(ir::Shape(at, x.end()))};
}

Result<void> lower_norm(LowerContext& c, task::NormTask::Kind kind) {
  const ir::Shape& x = c.in_type(0).shape;
  const ir::Shape rows = norm_rows(x, norm_axis(c, x.size()));
  const ir::Shape row{rows[1]}, statistics{rows[0], Dim(1)};
  task::NormTask task;
  task.x = {c.reshape(c.in(0), rows)};
  task.scale = {c.reshape(c.in(1), row)};
  if (c.has(2)) task.bias = {c.reshape(c.in(2), row)};
  task.y = {c.reshape(c.out(0), rows)};
  if (c.has_out(1)) task.mean = {c.reshape(c.out(1), statistics)};
  if (c.has_out(2)) task.inv_std = {c.reshape(c.out(2), statistics)};
  task.eps = static_cast<float>(c.attr_float("epsilon"));
  task.kind = kind;
  c.emit(task);
  return {};
}

}  // namespace tw::ops
