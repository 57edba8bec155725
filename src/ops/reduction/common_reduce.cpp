#include "ops/reduction/common_reduce.h"

namespace tw::ops {

Result<uint32_t> reduced_dims(std::span<const int64_t> axes, int64_t rank,
                              bool noop_with_empty_axes) {
  const auto all = static_cast<uint32_t>((uint64_t{1} << rank) - 1);
  if (axes.empty()) return noop_with_empty_axes ? 0U : all;
  uint32_t reduced = 0;
  for (const int64_t axis : axes) {
    const int64_t dim = axis < 0 ? axis + rank : axis;
    if (dim < 0 || dim >= rank)
      return error(Code::kInvalidModel, "input 'axes' holds ", axis, ", expected -", rank, " to ",
                   rank - 1, " for a tensor of rank ", rank);
    reduced |= 1U << dim;
  }
  return reduced;
}

Result<void> infer_reduced_shape(ir::InferContext& c, DType dtype) {
  const bool keep_dims = c.attr_int("keepdims") != 0;
  const auto axes = c.has(1) ? c.constant_ints(1) : std::vector<int64_t>{};
  ir::Shape shape;
  if (!axes) {
    const std::optional<int64_t> n_axes = c.rank(1) == 1 ? c.shape(1)[0].known() : std::nullopt;
    if (!n_axes || *n_axes > c.rank(0))
      return error(Code::kUnsupported, "input 'axes' is ", c.in(1),
                   ", expected a list of known length, at most ", c.rank(0));
    for (int64_t d = keep_dims ? 0 : *n_axes; d < c.rank(0); ++d) shape.push_back(c.fresh_symbol());
    c.out(0, {dtype, std::move(shape)});
    return {};
  }
  const uint32_t reduced =
      TRY(reduced_dims(*axes, c.rank(0), c.attr_int("noop_with_empty_axes") != 0));
  for (size_t d = 0; d < c.shape(0).size(); ++d) {
    if ((reduced >> d & 1U) == 0)
      shape.push_back(c.shape(0)[d]);
    else if (keep_dims)
      shape.push_back(Dim(1));
  }
  c.out(0, {dtype, std::move(shape)});
  return {};
}

void fold_ints(ir::InferContext& c, Dim (*fold)(const Dim&, const Dim&)) {
  const auto* known = c.ints(0);
  const bool whole = ir::element_count(c.outputs()[0].type.shape) == Dim(1);
  const DType dtype = c.in(0).dtype;  // a Dim cannot hold the upper half of u64
  if (known == nullptr || known->empty() || !whole || dtype == DType::kU64) return;
  Dim total = known->front();
  for (size_t i = 1; i < known->size(); ++i) total = fold(total, (*known)[i]);
  c.out_ints(0, {total.is_constant() ? Dim(wrap_int(dtype, total.constant())) : total});
}

Result<uint32_t> reduced_dims(const ir::EvalContext& c) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; c.has(1) && i < c.in(1).count(); ++i) axes.push_back(c.in(1).int_at(i));
  return reduced_dims(axes, c.in(0).rank(), c.attr_int("noop_with_empty_axes") != 0);
}

std::vector<int64_t> group_of_elements(const Dims& dims, uint32_t reduced) {
  const Dims kept = reduced_shape(dims, reduced, true);
  std::vector<int64_t> group;
  for (int64_t i = 0; i < element_count(dims); ++i) group.push_back(broadcast_index(dims, kept, i));
  return group;
}

Dims reduced_shape(const Dims& dims, uint32_t reduced, bool keep_dims) {
  Dims shape;
  for (size_t d = 0; d < dims.size(); ++d) {
    if ((reduced >> d & 1U) == 0)
      shape.push_back(dims[d]);
    else if (keep_dims)
      shape.push_back(1);
  }
  return shape;
}

Result<void> emit_reduce(LowerContext& c, task::ReduceTask::Kind kind) {
  std::vector<int64_t> axes;
  if (c.has(1)) {
    const auto* known = c.in_ints(1);
    if (known == nullptr)
      return error(Code::kUnsupported,
                   "input 'axes' is known only at run time, expected a constant");
    for (const Dim& axis : *known) {
      if (!axis.is_constant())
        return error(Code::kUnsupported, "input 'axes' holds ", axis, ", expected a number");
      axes.push_back(axis.constant());
    }
  }
  ir::Shape kept = c.in_type(0).shape;
  const uint32_t reduced = TRY(reduced_dims(axes, static_cast<int64_t>(kept.size()),
                                            c.attr_int("noop_with_empty_axes") != 0));
  for (size_t d = 0; d < kept.size(); ++d)
    if ((reduced >> d & 1U) != 0) kept[d] = Dim(1);
  c.emit(task::ReduceTask{
      .x = {c.in(0)}, .y = {c.reshape(c.out(0), kept)}, .axes = reduced, .kind = kind});
  return {};
}

Result<void> import_axes_attribute(ir::ImportContext& c) {
  const ir::OpDef* op = ir::find_onnx("", c.op_type(), 18).op;
  std::vector<ir::ValueId> inputs = {c.in(0)};
  if (const std::vector<int64_t> axes = c.attr_ints("axes"); !axes.empty())
    inputs.push_back(c.b().ints(axes));
  const int64_t keep_dims = c.attr_int("keepdims", 1);
  for (const std::string_view name : {"axes", "keepdims"})
    if (const auto found = c.attrs().find(name); found != c.attrs().end()) c.attrs().erase(found);
  c.set_out(0, TRY(c.b().op(op->name, inputs, {{"keepdims", keep_dims}})));
  return {};
}

}  // namespace tw::ops
