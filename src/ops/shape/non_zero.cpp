// non_zero: where x is not 0. How many places that are is known only from data: the task writes the
// count, the segment ends, and what follows uses it as a size.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  c.out(0, {DType::kI64, {c.rank(0), c.fresh_symbol()}});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  std::vector<Dims> places;
  for_each_coordinate(x.dims(), [&](const Dims& at, int64_t i) {
    if (x.float_at(i) != 0) places.push_back(at);
  });
  const auto n = static_cast<int64_t>(places.size());
  TRY(c.allocate(0, DType::kI64, {x.rank(), n}));
  for (int64_t d = 0; d < x.rank(); ++d)
    for (int64_t i = 0; i < n; ++i)
      c.out(0).set_int(d * n + i, places[static_cast<size_t>(i)][static_cast<size_t>(d)]);
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& x = c.in_type(0).shape;
  const Dim rank(static_cast<int64_t>(x.size()));
  const task::SlotId places = c.temp({DType::kI64, {ir::element_count(x), rank}});
  const task::SlotId count = int_temp(c, 1);
  c.emit(task::NonZeroTask{.x = {c.in(0)}, .y = {places}, .count = {count}});
  const Dim found = c.out_type(0).shape[1];
  TRY(bind_fresh(c, {found}, count));
  emit_copy(c, c.permute(c.slice(places, 0, 0, found), {1, 0}), c.out(0));
  return {};
}

}  // namespace

extern constinit const ir::OpDef non_zero = {
    .name = "non_zero",
    .doc = "y[:, k] = the coordinates of x's k-th element that is not 0, in row-major order",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"NonZero", 9}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"i64[3,5]<2", "bool[7]", "f32[0,4]", "i32[1]<1", "f32[3,1,5]", "i64[1,128]<2"},
};

}  // namespace tw::ops
