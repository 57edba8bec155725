// split: the inverse of concat. Where the parts lie row-major one behind the other they are views.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

/// Equal parts, rounded up; the last ones take what is left.
std::vector<Dim> even_parts(const Dim& whole, int64_t n) {
  const Dim part = ceil_div(whole, n);
  const bool divides = part * Dim(n) == whole;
  std::vector<Dim> parts;
  for (int64_t i = 0; i < n; ++i)
    parts.push_back(divides ? part : tight_min(part, at_least_zero(whole - Dim(i) * part)));
  return parts;
}

/// Sizes from the input's elements, which have to add up.
Result<std::vector<Dim>> given_parts(const ir::InferContext& c, const std::vector<Dim>& sizes,
                                     const Dim& whole) {
  if (sizes.size() != c.n_outputs())
    return error(Code::kInvalidModel, "'split' has ", sizes.size(), " sizes, expected ",
                 c.n_outputs(), ", one an output");
  Dim sum(0);
  for (const Dim& size : sizes) {
    if (size.is_constant() && size.constant() < 0)
      return error(Code::kInvalidModel, "'split' holds ", size, ", expected a size");
    sum = sum + size;
  }
  TRY(same_dim(whole, sum, "the sum of 'split'"));
  return sizes;
}

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const auto axis =
      static_cast<size_t>(TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'")));
  const auto n = static_cast<int64_t>(c.n_outputs());
  std::vector<Dim> parts;
  if (const auto sizes = known_elements(c, 1)) {
    parts = TRY(given_parts(c, *sizes, x[axis]));
  } else if (c.has(1)) {
    for (int64_t i = 0; i < n; ++i) parts.push_back(c.fresh_symbol());
  } else {
    if (c.has_attr("num_outputs") && c.attr_int("num_outputs") != n)
      return error(Code::kInvalidModel, "attribute 'num_outputs' is ", c.attr_int("num_outputs"),
                   ", expected ", n);
    parts = even_parts(x[axis], n);
  }
  Dim start(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    ir::Shape y = x;
    y[axis] = parts[i];
    const auto at = start.known(), count = parts[i].known();
    if (at && count)
      move_known(c, i, y,
                 [&](const Dims& from) { return sliced(whole_view(from), axis, *at, *count); });
    c.out(i, {c.in(0).dtype, std::move(y)});
    start = start + parts[i];
  }
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Dims& dims = c.in(0).dims();
  const size_t axis = wrapped_axis(c.attr_int("axis"), dims.size());
  const std::vector<Dim> even = even_parts(dims[axis], static_cast<int64_t>(c.n_outputs()));
  int64_t start = 0;
  for (size_t i = 0; i < c.n_outputs(); ++i) {
    const int64_t count = c.has(1) ? c.in(1).int_at(static_cast<int64_t>(i)) : even[i].constant();
    if (c.has_out(i)) copy_view(c.in(0), sliced(whole_view(dims), axis, start, count), c.out(i));
    start += count;
  }
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& x = c.in_type(0).shape;
  const size_t axis = wrapped_axis(c.attr_int("axis"), x.size());
  std::vector<Dim> parts;
  if (!c.has(1)) {
    parts = even_parts(x[axis], static_cast<int64_t>(c.n_outputs()));
  } else if (c.in_ints(1) != nullptr) {
    parts = *c.in_ints(1);
  } else {
    for (size_t i = 0; i < c.n_outputs(); ++i) parts.push_back(c.out_type(i).shape[axis]);
    TRY(bind_fresh(c, parts, c.in(1)));
  }
  Dim start(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (c.has_out(i)) set_out_window(c, i, c.slice(c.in(0), axis, start, parts[i]));
    start = start + parts[i];
  }
  return {};
}

/// Up to opset 12 the sizes are an attribute.
Result<void> import_split_attr(ir::ImportContext& c) {
  std::vector<ir::ValueId> inputs = {c.in(0)};
  if (c.attrs().contains("split")) inputs.push_back(c.b().ints(c.attr_ints("split")));
  c.attrs().erase("split");
  const std::vector<ir::ValueId> outputs =
      TRY(c.b().ops("split", inputs, c.attrs(), c.n_outputs()));
  for (size_t i = 0; i < outputs.size(); ++i) c.set_out(i, outputs[i]);
  c.attrs().clear();
  return {};
}

}  // namespace

extern constinit const ir::OpDef split = {
    .name = "split",
    .doc =
        "parts of x along axis: of the sizes in split, else as many equal ones as there are "
        "outputs",
    .inputs = {"x", "split?"},
    .outputs = {"ys..."},
    .attrs = {{"axis", 0}, {"num_outputs", {}}},
    .onnx = {{"Split", 2, import_split_attr}, {"Split", 13}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,7] i64{2,4,1} ; axis=1 outputs=3", "f32[7,3] ; num_outputs=3 outputs=3",
              "f32[0,4] ; axis=-1 outputs=2", "f32[6] i64{6,0} ; outputs=2",
              "i64{5,6,7,8} ; outputs=2", "bool[3,5] ; axis=1 outputs=1",
              "f32[1,128,1152] ; axis=2 outputs=3",
              "f32[1,64,20,20] i64{32,32} ; axis=1 outputs=2"},
};

}  // namespace tw::ops
