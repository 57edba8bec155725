// compress: the slices of an axis (or the elements of x in a row) whose condition holds. A constant
// condition is a gather; any other ends a segment, as non_zero does.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

/// The places where the condition holds.
std::vector<int64_t> places_of(const Tensor& condition) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < condition.count(); ++i)
    if (condition.int_at(i) != 0) places.push_back(i);
  return places;
}

/// The dims before, of and behind the axis; without one all of x is the axis.
struct Parts {
  Dim outer, size, inner;
};
Parts parts_of(const ir::NodeView& node, const ir::Shape& x) {
  if (!node.has_attr("axis")) return {1, ir::element_count(x), 1};
  const auto axis = static_cast<std::ptrdiff_t>(wrapped_axis(node.attr_int("axis"), x.size()));
  return {ir::element_count({x.begin(), x.begin() + axis}), x[static_cast<size_t>(axis)],
          ir::element_count({x.begin() + axis + 1, x.end()})};
}

/// x's shape with `count` places on the axis.
ir::Shape compressed_shape(const ir::NodeView& node, const ir::Shape& x, const Dim& count) {
  if (!node.has_attr("axis")) return {count};
  ir::Shape y = x;
  y[wrapped_axis(node.attr_int("axis"), x.size())] = count;
  return y;
}

Result<void> infer(ir::InferContext& c) {
  if (c.has_attr("axis")) TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  if (c.in(1).dtype != DType::kBool || c.rank(1) != 1)
    return error(Code::kInvalidModel, "'condition' is ", c.in(1), ", expected a list of bool");
  const Parts parts = parts_of(c, c.shape(0));
  const auto size = parts.size.known(), length = c.shape(1)[0].known();
  if (size && length && *length > *size)
    return error(Code::kInvalidModel, "'condition' has ", *length, " elements, expected at most ",
                 *size);
  const Tensor* constant = c.constant(1);
  const Dim count = constant != nullptr ? Dim(static_cast<int64_t>(places_of(*constant).size()))
                                        : c.fresh_symbol();
  c.out(0, {c.in(0).dtype, compressed_shape(c, c.shape(0), count)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  const std::vector<int64_t> places = places_of(c.in(1));
  const ir::Shape dims = ir::to_shape(x.dims());
  const auto n = static_cast<int64_t>(places.size());
  TRY(c.allocate(0, x.dtype(), *ir::concrete(compressed_shape(c, dims, n))));
  const Parts parts = parts_of(c, dims);
  const int64_t size = parts.size.constant(), n_inner = parts.inner.constant();
  for (int64_t outer = 0; outer < parts.outer.constant(); ++outer)
    for (int64_t i = 0; i < n; ++i)
      copy_elements(x, (outer * size + places[static_cast<size_t>(i)]) * n_inner, c.out(0),
                    (outer * n + i) * n_inner, n_inner);
  return {};
}

Result<void> lower(LowerContext& c) {
  const Parts parts = parts_of(c, c.in_type(0).shape);
  const size_t axis =
      c.has_attr("axis") ? wrapped_axis(c.attr_int("axis"), c.in_type(0).shape.size()) : 0;
  const Dim count = c.out_type(0).shape[axis];
  task::SlotId index{};
  if (const Tensor* constant = c.in_constant(1)) {
    index = c.constant(Tensor::from_ints(places_of(*constant)));
  } else {
    const task::SlotId places = c.temp({DType::kI64, {c.in_type(1).shape[0], 1}});
    const task::SlotId found = int_temp(c, 1);
    c.emit(task::NonZeroTask{.x = {c.in(1)}, .y = {places}, .count = {found}});
    TRY(bind_fresh(c, {count}, found));
    index = c.reshape(c.slice(places, 0, 0, count), {count});
  }
  const task::SlotId x = c.reshape(c.in(0), {parts.outer, parts.size, parts.inner});
  const task::SlotId y = c.reshape(c.out(0), {parts.outer, count, parts.inner});
  c.emit(task::GatherTask{.x = {x}, .index = {index}, .y = {y}, .axis = 1});
  return {};
}

}  // namespace

extern constinit const ir::OpDef compress = {
    .name = "compress",
    .doc = "the slices of x along axis (without axis: its elements in a row) whose condition holds",
    .inputs = {"x", "condition"},
    .outputs = {"y"},
    .attrs = {{"axis", {}}},
    .onnx = {{"Compress", 9}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] bool[5] ; axis=1", "f32[3,5] bool[11]", "f32[7,3] bool{1,0,1} ; axis=0",
              "f32[0,4] bool[4] ; axis=-1", "i64[1] bool[1]", "f32[3,5] bool{0,0} ; axis=1",
              "f32[1,300,4] bool[300] ; axis=1"},
};

}  // namespace tw::ops
