#include "ops/reduction/common_arg.h"

namespace tw::ops {

Result<void> infer_arg(ir::InferContext& c) {
  TRY(expect_type(c, 0, kNumbers));
  const int64_t axis = TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  ir::Shape shape = c.shape(0);
  if (shape[static_cast<size_t>(axis)] == Dim(0))
    return error(Code::kInvalidModel, "input 'x' is ", c.in(0), ", expected an element along axis ",
                 axis);
  if (c.attr_int("keepdims") != 0)
    shape[static_cast<size_t>(axis)] = Dim(1);
  else
    shape.erase(shape.begin() + axis);
  c.out(0, {DType::kI64, std::move(shape)});
  return {};
}

Result<void> emit_arg(LowerContext& c, task::ReduceTask::Kind kind) {
  ir::Shape kept = c.in_type(0).shape;
  const int64_t axis = axis_of(c, static_cast<int64_t>(kept.size()));
  kept[static_cast<size_t>(axis)] = Dim(1);
  c.emit(
      task::ReduceTask{.x = {c.in(0)},
                       .y = {c.reshape(c.out(0), kept)},
                       .axes = 1U << axis,
                       .kind = kind,
                       .last_index = static_cast<uint8_t>(c.attr_int("select_last_index") != 0)});
  return {};
}

}  // namespace tw::ops
