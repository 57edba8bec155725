#include "ops/reduction/common_rows.h"

#include <numeric>

namespace tw::ops {

Rows Rows::of(const Dims& dims, int64_t axis) {
  Rows rows;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (d < axis)
      rows.n_outer *= dims[static_cast<size_t>(d)];
    else if (d == axis)
      rows.length = dims[static_cast<size_t>(d)];
    else
      rows.n_inner *= dims[static_cast<size_t>(d)];
  }
  return rows;
}

void Rows::for_each(const std::function<void(int64_t outer, int64_t inner)>& visit) const {
  for (int64_t outer = 0; outer < n_outer; ++outer)
    for (int64_t inner = 0; inner < n_inner; ++inner) visit(outer, inner);
}

int64_t axis_of(const ir::NodeView& c, int64_t rank) {
  const int64_t axis = c.attr_int("axis");
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> swap_with_last(int64_t axis, size_t rank) {
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[static_cast<size_t>(axis)], permutation.back());
  return permutation;
}

task::SlotId rows_last(LowerContext& c, task::SlotId x, DType dtype, int64_t axis) {
  const size_t rank = c.dims(x).size();
  if (axis == static_cast<int64_t>(rank) - 1) return x;
  const task::SlotId swapped = c.permute(x, swap_with_last(axis, rank));
  const task::SlotId copy = c.temp({dtype, c.dims(swapped)});
  c.emit(task::CopyTask{.x = {swapped}, .y = {copy}});
  return copy;
}

Result<void> import_coerced_to_2d(ir::ImportContext& c) {
  const std::string_view name = ir::find_onnx("", c.op_type(), 13).op->name;
  const auto rank = static_cast<int64_t>(c.value(0).type.shape.size());
  const int64_t axis = c.attr_int("axis", 1);
  c.attrs().erase("axis");
  if (axis < -rank || axis > rank)
    return error(Code::kInvalidModel, "attribute 'axis' is ", axis, ", expected -", rank, " to ",
                 rank, " for a tensor of rank ", rank);
  if ((axis < 0 ? axis + rank : axis) == rank - 1) {
    c.set_out(0, TRY(c.b().op(name, {c.in(0)}, {{"axis", int64_t{-1}}})));
    return {};
  }
  const ir::ValueId rows = TRY(c.b().op("flatten", {c.in(0)}, {{"axis", axis}}));
  const ir::ValueId result = TRY(c.b().op(name, {rows}, {{"axis", int64_t{-1}}}));
  const ir::ValueId shape = TRY(c.b().op("shape", {c.in(0)}));
  c.set_out(0, TRY(c.b().op("reshape", {result, shape})));
  return {};
}

}  // namespace tw::ops
