// gather: rows of one axis at indices. A single index known from shapes (the first token, the last
// one, a dim of Shape) is a window and not a gather.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

ir::Shape gathered_shape(const ir::Shape& x, const ir::Shape& index, size_t axis) {
  ir::Shape y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(axis));
  y.insert(y.end(), index.begin(), index.end());
  y.insert(y.end(), x.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.end());
  return y;
}

/// Elements of a list of known integers at constant indices.
Result<void> gather_known(ir::InferContext& c, const Dim& size) {
  const auto known = known_elements(c, 0);
  const auto index = c.constant_ints(1);
  if (!known || !index || c.rank(0) != 1 || !size.is_constant()) return {};
  std::vector<Dim> taken;
  for (const int64_t i : *index)
    taken.push_back(
        (*known)[static_cast<size_t>(TRY(wrapped_index(i, size.constant(), "'index'")))]);
  c.out_ints(0, std::move(taken));
  return {};
}

Result<void> infer(ir::InferContext& c) {
  const auto axis =
      static_cast<size_t>(TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'")));
  if (!is_signed_int(c.in(1).dtype))
    return error(Code::kInvalidModel, "'index' is ", c.in(1).dtype, ", expected i32 or i64");
  ir::Shape y = gathered_shape(c.shape(0), c.shape(1), axis);
  if (small_dims(y)) TRY(gather_known(c, c.shape(0)[axis]));
  c.out(0, {c.in(0).dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const size_t axis = wrapped_axis(c.attr_int("axis"), x.dims().size());
  int64_t n_outer = 1, n_inner = 1;
  for (size_t d = 0; d < axis; ++d) n_outer *= x.dims()[d];
  for (size_t d = axis + 1; d < x.dims().size(); ++d) n_inner *= x.dims()[d];
  const int64_t size = x.dims()[axis], n = index.count();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = TRY(wrapped_index(index.int_at(i), size, "'index'"));
    for (int64_t outer = 0; outer < n_outer; ++outer)
      copy_elements(x, (outer * size + at) * n_inner, c.out(0), (outer * n + i) * n_inner, n_inner);
  }
  return {};
}

/// The only index, counted from the front, where it is known to be in range for every size that the
/// axis can have.
std::optional<Dim> single_index(LowerContext& c, const Dim& size) {
  const std::vector<Dim>* known = c.in_ints(1);
  if (known == nullptr || known->size() != 1) return std::nullopt;
  const Dim at = wrap_negative(known->front(), size);
  // 0 and -1 are out of range for a size of 0 only, and then x has no storage that a window could
  // point into.
  const bool end = at == Dim(0) || at == size - Dim(1);
  if (end || (is_nonnegative(at) && is_nonnegative(size - Dim(1) - at))) return at;
  return std::nullopt;
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& x = c.in_type(0).shape;
  const size_t axis = wrapped_axis(c.attr_int("axis"), x.size());
  if (const auto at = single_index(c, x[axis])) {
    const task::SlotId window = c.slice(c.in(0), axis, *at, 1);
    std::vector<Dim> strides = c.strides(window);
    // The index's own dims, all of size 1, take the place of the axis.
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
    strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(axis), c.in_type(1).shape.size(),
                   Dim(1));
    set_out_window(c, 0, c.view(window, c.out_type(0).shape, strides, c.offset(window)));
    return {};
  }
  c.emit(task::GatherTask{
      .x = {c.in(0)}, .index = {c.in(1)}, .y = {c.out(0)}, .axis = static_cast<int8_t>(axis)});
  return {};
}

}  // namespace

extern constinit const ir::OpDef gather = {
    .name = "gather",
    .doc = "y[i.., j.., k..] = x[i.., index[j..], k..], i.. being the dims before axis",
    .inputs = {"x", "index"},
    .outputs = {"y"},
    .attrs = {{"axis", 0}},
    .onnx = {{"Gather", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[7,5] i64[3,2]<7", "f32[3,5,7] i32{-1,0,4} ; axis=1",
              "f32[3,5,7] i64(0) ; axis=-2", "f32[7,5] i64[0]<7", "i64{3,4,5} i64(-1)",
              "i64{3,4,5} i64{2,0}", "f32[1,0] i64(0)", "bool[33,17] i64[9]<17 ; axis=1",
              "f32[1,128,384] i64(0) ; axis=1", "f32[30522,384] i64[1,128]<30522"},
};

}  // namespace tw::ops
