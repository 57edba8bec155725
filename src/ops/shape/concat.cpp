// concat: tensors one behind the other along one axis; each is copied into its window of the
// output.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

/// The inputs' known elements in y's order, when all are known and y is small.
void concat_known(ir::InferContext& c, const ir::Shape& y, size_t axis) {
  const auto to = small_dims(y);
  if (!to) return;
  std::vector<Dim> elements(static_cast<size_t>(element_count(*to)));
  int64_t start = 0;
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    const auto known = known_elements(c, i);
    const auto from = ir::concrete(c.shape(i));
    if (!known || !from) return;
    const int64_t count = (*from)[axis];
    for_each_element(sliced(whole_view(*to), axis, start, count), [&](int64_t k, int64_t element) {
      elements[static_cast<size_t>(element)] = (*known)[static_cast<size_t>(k)];
    });
    start += count;
  }
  c.out_ints(0, std::move(elements));
}

Result<void> infer(ir::InferContext& c) {
  if (c.n_inputs() == 0) return error(Code::kInvalidModel, "no inputs, expected at least one");
  const auto axis =
      static_cast<size_t>(TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'")));
  ir::Shape y = c.shape(0);
  for (size_t i = 1; i < c.n_inputs(); ++i) {
    const ir::Shape& x = c.shape(i);
    if (c.in(i).dtype != c.in(0).dtype)
      return error(Code::kInvalidModel, "input ", i, " is ", c.in(i).dtype, ", expected ",
                   c.in(0).dtype, " as input 0");
    if (x.size() != y.size())
      return error(Code::kInvalidModel, "input ", i, " has rank ", x.size(), ", expected ",
                   y.size(), " as input 0");
    for (size_t d = 0; d < x.size(); ++d)
      y[d] = d == axis ? y[d] + x[d] : TRY(same_dim(y[d], x[d], cat("dim ", d, " of input ", i)));
  }
  concat_known(c, y, axis);
  c.out(0, {c.in(0).dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const StridedView y = whole_view(c.out(0).dims());
  const size_t axis = wrapped_axis(c.attr_int("axis"), y.dims.size());
  int64_t start = 0;
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    const int64_t count = c.in(i).dims()[axis];
    for_each_element(sliced(y, axis, start, count), [&](int64_t k, int64_t element) {
      copy_elements(c.in(i), k, c.out(0), element);
    });
    start += count;
  }
  return {};
}

Result<void> lower(LowerContext& c) {
  if (c.n_inputs() == 1) {
    c.set_out(0, c.reshape(c.in(0), c.out_type(0).shape));
    return {};
  }
  const size_t axis = wrapped_axis(c.attr_int("axis"), c.out_type(0).shape.size());
  const task::SlotId y = c.out(0);
  Dim start(0);
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    const Dim count = c.in_type(i).shape[axis];
    if (!(count == Dim(0))) emit_copy(c, c.in(i), c.slice(y, axis, start, count));
    start = start + count;
  }
  return {};
}

}  // namespace

extern constinit const ir::OpDef concat = {
    .name = "concat",
    .doc = "y = the inputs one behind the other along axis",
    .inputs = {"xs..."},
    .outputs = {"y"},
    .attrs = {{"axis", {}}},
    .onnx = {{"Concat", 4}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] f32[3,2] f32[3,1] ; axis=1", "f32[3,5] ; axis=-1",
              "f32[2,0,3] f32[2,4,3] ; axis=-2", "f32[0,3] f32[0,3] ; axis=0",
              "i64{1} i64{-1} i64{7} ; axis=0", "bool[3,7,1] bool[3,7,2] ; axis=2",
              "f32[1,64,40,40] f32[1,32,40,40] f32[1,32,40,40] ; axis=1"},
};

}  // namespace tw::ops
