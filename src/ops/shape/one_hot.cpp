// one_hot: a new axis on which one place is "on". Indices may count from the end; one out of range
// is "on" nowhere.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

enum Input : size_t {
  kIndex,
  kDepth,
  kValues
};

/// The axis in y, whose rank is one more than the index's.
size_t new_axis(const ir::NodeView& node, size_t index_rank) {
  return wrapped_axis(node.attr_int("axis"), index_rank + 1);
}

/// The depth where shapes or a constant (of any type) give it.
std::optional<Dim> known_depth(const std::vector<Dim>* ints, const Tensor* constant) {
  if (ints != nullptr && ints->size() == 1) return ints->front();
  if (constant != nullptr && constant->count() == 1) return Dim(constant->int_at(0));
  return std::nullopt;
}

Result<void> infer(ir::InferContext& c) {
  const size_t rank = c.shape(kIndex).size();
  TRY(c.axis(c.attr_int("axis"), static_cast<int64_t>(rank) + 1, "attribute 'axis'"));
  if (!(ir::element_count(c.shape(kDepth)) == Dim(1)))
    return error(Code::kInvalidModel, "'depth' is ", c.in(kDepth), ", expected one element");
  if (c.rank(kValues) != 1 || c.shape(kValues)[0].known().value_or(2) != 2)
    return error(Code::kInvalidModel, "'values' is ", c.in(kValues),
                 ", expected two elements, off and on");
  const std::optional<Dim> depth = known_depth(c.ints(kDepth), c.constant(kDepth));
  if (depth && depth->is_constant() && depth->constant() < 0)
    return error(Code::kInvalidModel, "'depth' is ", *depth, ", expected 0 or more");
  ir::Shape y = c.shape(kIndex);
  y.insert(y.begin() + static_cast<std::ptrdiff_t>(new_axis(c, rank)),
           depth ? *depth : c.fresh_symbol());
  c.out(0, {c.in(kValues).dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &index = c.in(kIndex), &values = c.in(kValues);
  const size_t axis = new_axis(c, index.dims().size());
  const int64_t depth = c.in(kDepth).int_at(0);
  Dims dims;
  for (size_t d = 0; d <= index.dims().size(); ++d)
    dims.push_back(d == axis ? depth : index.dims()[d < axis ? d : d - 1]);
  TRY(c.allocate(0, values.dtype(), dims));
  int64_t n_inner = 1;
  for (size_t d = axis + 1; d < dims.size(); ++d) n_inner *= dims[d];
  for_each_coordinate(dims, [&](const Dims& at, int64_t i) {
    const int64_t place = index.int_at(i / (n_inner * depth) * n_inner + i % n_inner);
    const bool on = (place < 0 ? place + depth : place) == at[axis];
    copy_elements(values, on ? 1 : 0, c.out(0), i);
  });
  return {};
}

Result<void> lower(LowerContext& c) {
  using task::PointOp;
  const ir::Shape& y = c.out_type(0).shape;
  const size_t axis = new_axis(c, c.in_type(kIndex).shape.size());
  const auto depth = known_depth(c.in_ints(kDepth), c.in_constant(kDepth));
  task::SlotId depth_data{};
  if (depth) {
    depth_data = dims_as_data(c, {*depth});
  } else {
    depth_data = int_temp(c, 1);
    CodeWriter to_int(1);
    const uint8_t number = to_int.cast(0, c.in_type(kDepth).dtype, DType::kI64);
    emit_program(c, to_int.finish({number}), {c.in(kDepth)}, {depth_data});
    TRY(bind_fresh(c, {y[axis]}, depth_data));
  }
  ir::Shape index = c.in_type(kIndex).shape;
  index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));

  CodeWriter code(4);  // index, depth, off, on
  const uint8_t place = code.cast(0, c.in_type(kIndex).dtype, DType::kI64);
  const uint8_t from_end = code.ints(PointOp::kAdd, place, 1);
  const uint8_t negative = code.ints(PointOp::kLess, place, code.literal(0));
  const uint8_t hit = code.ints(
      PointOp::kEqual, code.ints(PointOp::kWhere, negative, from_end, place), code.index(axis));
  const uint8_t element = code.op(PointOp::kWhere, c.out_type(0).dtype, hit, 3, 2);
  emit_program(c, code.finish({element}),
               {c.reshape(c.in(kIndex), index), depth_data, c.slice(c.in(kValues), 0, 0, 1),
                c.slice(c.in(kValues), 0, 1, 1)},
               {c.out(0)});
  return {};
}

}  // namespace

extern constinit const ir::OpDef one_hot = {
    .name = "one_hot",
    .doc =
        "y[.., k, ..] = values[index[..] = k], k < depth standing at axis; an index may count from "
        "the end",
    .inputs = {"index", "depth", "values"},
    .outputs = {"y"},
    .attrs = {{"axis", -1}},
    .onnx = {{"OneHot", 9}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"i64[3,5]<7 i64(7) f32[2]", "i64{-1,0,9,3} i64{4} i64{-5,6} ; axis=0",
              "f32(2) f32(5) f16[2]", "i32[0,3]<4 i64(4) f32[2] ; axis=1",
              "i64[3]<3 i64[]<9 f32[2] ; axis=0", "i64[7,1]<2 i32(1) bool{0,1}",
              "i64[1,128]<1000 i64(1000) f32{0,1}"},
};

}  // namespace tw::ops
