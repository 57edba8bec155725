// reshape: other dims over the same elements. The target is nearly always known from shapes: then
// this is a view that costs nothing. A target that only data can tell ends a segment of the
// program.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

/// Element counts of both sides without the dims that they have in common, so that a symbolic
/// quotient stays short.
struct Counts {
  Dim x, y;
};

Counts reduced_counts(ir::Shape x, const ir::Shape& y) {
  Dim rest(1);
  for (const Dim& dim : y) {
    const auto common = std::find(x.begin(), x.end(), dim);
    if (common != x.end())
      x.erase(common);
    else
      rest = rest * dim;
  }
  return {ir::element_count(x), rest};
}

/// y's dims from the elements of 'shape': 0 keeps x's dim (unless allow_zero), one -1 takes what is
/// left.
Result<ir::Shape> resolve(const ir::Shape& x, const std::vector<Dim>& target, bool allow_zero) {
  ir::Shape y, given;
  std::optional<size_t> open;
  for (size_t k = 0; k < target.size(); ++k) {
    Dim dim = target[k];
    if (dim == Dim(-1)) {
      if (open)
        return error(Code::kInvalidModel, "'shape' ", dims_text(target),
                     " has two dims of -1, expected at most one");
      open = k;
      y.emplace_back(0);
      continue;
    }
    if (dim == Dim(0) && !allow_zero) {
      if (k >= x.size())
        return error(Code::kInvalidModel, "'shape' ", dims_text(target), " keeps dim ", k,
                     ", but 'x' is ", dims_text(x));
      dim = x[k];
    }
    if (dim.is_constant() && dim.constant() < 0)
      return error(Code::kInvalidModel, "'shape' holds ", dim, ", expected -1, 0 or a size");
    y.push_back(dim);
    given.push_back(dim);
  }
  const Counts counts = reduced_counts(x, given);
  if (open && counts.y == Dim(0))
    return error(Code::kInvalidModel, "'shape' ", dims_text(target),
                 " leaves -1 open beside a dim of size 0");
  const bool numbers = counts.x.is_constant() && counts.y.is_constant();
  const bool both_empty = ir::element_count(x) == Dim(0) && ir::element_count(given) == Dim(0);
  if (numbers &&
      (open ? counts.x.constant() % counts.y.constant() != 0 : counts.x != counts.y && !both_empty))
    return error(Code::kInvalidModel, "'shape' ", dims_text(target), " does not fit 'x' ",
                 dims_text(x));
  if (open) y[*open] = floor_div(counts.x, counts.y);
  return y;
}

Result<void> infer(ir::InferContext& c) {
  if (c.rank(1) != 1)
    return error(Code::kInvalidModel, "'shape' has rank ", c.rank(1), ", expected 1");
  ir::Shape y;
  if (const auto target = known_elements(c, 1)) {
    y = TRY(resolve(c.shape(0), *target, c.attr_int("allowzero") != 0));
  } else {
    const auto rank = c.shape(1)[0].known();
    if (!rank)
      return error(Code::kUnsupported, "the length of 'shape' is ", c.shape(1)[0],
                   ", expected a number");
    for (int64_t k = 0; k < *rank; ++k) y.push_back(c.fresh_symbol());
  }
  c.out(0, {c.in(0).dtype, std::move(y)});
  keep_known(c);
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  std::vector<Dim> target;
  for (int64_t k = 0; k < c.in(1).count(); ++k) target.emplace_back(c.in(1).int_at(k));
  const ir::Shape y =
      TRY(resolve(ir::to_shape(c.in(0).dims()), target, c.attr_int("allowzero") != 0));
  c.set_out(0, c.in(0).reshaped(*ir::concrete(y)));
  return {};
}

/// resolve() at run time: i64[rank of y].
task::SlotId resolve_data(LowerContext& c) {
  using task::PointOp;
  const ir::Shape& x = c.in_type(0).shape;
  const auto rank = static_cast<int64_t>(c.out_type(0).shape.size());
  std::vector<Dim> kept = x;
  kept.resize(static_cast<size_t>(rank), Dim(1));

  const task::SlotId given = int_temp(c, rank), factors = int_temp(c, rank);
  CodeWriter first(2);  // target, kept
  const uint8_t zero = first.literal(0), one = first.literal(1), minus_one = first.literal(-1);
  const uint8_t keeps = first.ints(PointOp::kEqual, 0, zero);
  const uint8_t dim =
      c.attr_int("allowzero") != 0 ? uint8_t{0} : first.ints(PointOp::kWhere, keeps, 1, 0);
  const uint8_t is_open = first.ints(PointOp::kEqual, dim, minus_one);
  const uint8_t factor = first.ints(PointOp::kWhere, is_open, one, dim);
  const task::PointProgram code = first.finish({dim, factor});
  emit_program(c, code, {c.in(1), dims_as_data(c, kept)}, {given, factors});

  const task::SlotId used = emit_product(c, factors);
  const task::SlotId total = emit_product(c, dims_as_data(c, x));
  const task::SlotId sizes = int_temp(c, rank);
  CodeWriter second(3);  // given, used, total
  const uint8_t divisor = second.ints(PointOp::kMax, 1, second.literal(1));
  const uint8_t rest = second.ints(PointOp::kDiv, 2, divisor);
  const uint8_t still_open = second.ints(PointOp::kEqual, 0, second.literal(-1));
  const uint8_t size = second.ints(PointOp::kWhere, still_open, rest, 0);
  emit_program(c, second.finish({size}), {given, used, total}, {sizes});
  return sizes;
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& y = c.out_type(0).shape;
  if (c.in_ints(1) == nullptr && !y.empty()) TRY(bind_fresh(c, y, resolve_data(c)));
  c.set_out(0, c.reshape(c.in(0), y));
  return {};
}

}  // namespace

extern constinit const ir::OpDef reshape = {
    .name = "reshape",
    .doc = "the elements of x in other dims; 0 in shape keeps x's dim, one -1 takes what is left",
    .inputs = {"x", "shape"},
    .outputs = {"y"},
    .attrs = {{"allowzero", 0}},
    .onnx = {{"Reshape", 5}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5,7] i64{5,-1}", "f32[3,5,7] i64{0,7,-1}", "f32[2,0,4] i64{0,0,8}",
              "f32[0,3] i64{3,0} ; allowzero=1", "f32[1] i64{}", "f32[] i64{1,-1}",
              "i64[6] i64{2,3}", "f32[1,128,384] i64{0,0,12,32}", "f32[6,1] i64[1]<1"},
};

}  // namespace tw::ops
