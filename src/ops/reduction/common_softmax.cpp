#include "ops/reduction/common_softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw::ops {

Result<void> infer_softmax(ir::InferContext& c) {
  TRY(expect_type(c, 0, kFloats));
  TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  c.out(0, c.in(0));
  return {};
}

Result<void> softmax_rows(ir::EvalContext& c, bool logarithm) {
  const Tensor& x = c.in(0);
  Tensor& y = c.out(0);
  const Rows rows = Rows::of(x.dims(), axis_of(c, x.rank()));
  rows.for_each([&](int64_t outer, int64_t inner) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < rows.length; ++k)
      largest = std::max(largest, x.float_at(rows.at(outer, k, inner)));
    double sum = 0;
    for (int64_t k = 0; k < rows.length; ++k)
      sum += std::exp(x.float_at(rows.at(outer, k, inner)) - largest);
    for (int64_t k = 0; k < rows.length; ++k) {
      const int64_t i = rows.at(outer, k, inner);
      const double shifted = x.float_at(i) - largest;
      y.set_float(i, logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum);
    }
  });
  return {};
}

Result<void> emit_softmax(LowerContext& c, bool logarithm) {
  const ir::TensorType& type = c.in_type(0);
  const auto rank = static_cast<int64_t>(type.shape.size());
  const int64_t axis = axis_of(c, rank);
  const bool is_last = axis == rank - 1;
  const task::SlotId x = rows_last(c, c.in(0), type.dtype, axis);
  const task::SlotId y = is_last ? c.out(0) : c.temp({type.dtype, c.dims(x)});
  c.emit(task::SoftmaxTask{.x = {x}, .y = {y}, .logarithm = static_cast<uint8_t>(logarithm)});
  if (!is_last)
    c.emit(task::CopyTask{.x = {y},
                          .y = {c.permute(c.out(0), swap_with_last(axis, type.shape.size()))}});
  return {};
}

}  // namespace tw::ops
