// slice: a window of strides. Bounds that shapes determine make it one copy, or a view where the
// window lies row-major; bounds that only data can tell end a segment and become a gather of
// computed indices.
#include <algorithm>
#include <limits>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"
#include "ops/shape/common_slice.h"

namespace tw::ops {
namespace {

enum Input : size_t {
  kX,
  kStarts,
  kEnds,
  kAxes,
  kSteps
};

/// A longer step takes the first element only, as this one does; sums of steps and sizes stay free
/// of overflow.
constexpr int64_t kLongestStep = std::numeric_limits<int32_t>::max();

/// Axes and steps of one node, which have to be numbers whatever the bounds are.
struct Fixed {
  std::vector<size_t> axes;
  std::vector<int64_t> steps;
};

Result<Fixed> fixed_parts(const std::optional<std::vector<int64_t>>& axes,
                          const std::optional<std::vector<int64_t>>& steps, size_t rank,
                          int64_t n) {
  if (!axes) return error(Code::kUnsupported, "'axes' follows from data, expected a constant");
  if (!steps) return error(Code::kUnsupported, "'steps' follows from data, expected a constant");
  Fixed fixed{TRY(distinct_axes(*axes, rank, "'axes'")), *steps};
  if (fixed.axes.empty())
    for (int64_t k = 0; k < n; ++k) fixed.axes.push_back(static_cast<size_t>(k));
  fixed.steps.resize(static_cast<size_t>(n), 1);
  for (int64_t& step : fixed.steps) step = std::clamp(step, -kLongestStep, kLongestStep);
  if (fixed.axes.size() != static_cast<size_t>(n) || fixed.axes.size() > rank)
    return error(Code::kInvalidModel, "'starts' has ", n, " elements, 'axes' ", fixed.axes.size(),
                 ", 'x' rank ", rank);
  return fixed;
}

Result<void> infer(ir::InferContext& c) {
  if (c.rank(kStarts) != 1 || c.rank(kEnds) != 1)
    return error(Code::kInvalidModel, "'starts' and 'ends' have ranks ", c.rank(kStarts), " and ",
                 c.rank(kEnds), ", expected 1");
  const auto n = c.shape(kStarts)[0].known();
  if (!n)
    return error(Code::kUnsupported, "the length of 'starts' is ", c.shape(kStarts)[0],
                 ", expected a number");
  const std::vector<int64_t> none;
  const Fixed fixed =
      TRY(fixed_parts(c.has(kAxes) ? c.constant_ints(kAxes) : none,
                      c.has(kSteps) ? c.constant_ints(kSteps) : none, c.shape(kX).size(), *n));
  ir::Shape y = c.shape(kX);
  const auto starts = known_elements(c, kStarts), ends = known_elements(c, kEnds);
  if (!starts || !ends) {
    for (const size_t axis : fixed.axes) y[axis] = c.fresh_symbol();
    c.out(0, {c.in(kX).dtype, std::move(y)});
    return {};
  }
  const auto axes = TRY(slice_axes(c.shape(kX), *starts, *ends, fixed.axes, fixed.steps));
  bool numbers = true;
  for (const SlicedAxis& a : axes) {
    y[a.axis] = a.count;
    numbers = numbers && a.start.is_constant() && a.count.is_constant();
  }
  if (numbers)
    move_known(c, 0, y, [&](const Dims& from) {
      StridedView view = whole_view(from);
      for (const SlicedAxis& a : axes)
        view = sliced(view, a.axis, a.start.constant(), a.count.constant(), a.step);
      return view;
    });
  c.out(0, {c.in(kX).dtype, std::move(y)});
  return {};
}

std::vector<int64_t> ints_of(const ir::EvalContext& c, size_t i) {
  std::vector<int64_t> values;
  for (int64_t k = 0; c.has(i) && k < c.in(i).count(); ++k) values.push_back(c.in(i).int_at(k));
  return values;
}

std::vector<Dim> as_dims(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(kX);
  const auto n = c.in(kStarts).count();
  const Fixed fixed = TRY(fixed_parts(ints_of(c, kAxes), ints_of(c, kSteps), x.dims().size(), n));
  const auto axes = TRY(slice_axes(ir::to_shape(x.dims()), as_dims(ints_of(c, kStarts)),
                                   as_dims(ints_of(c, kEnds)), fixed.axes, fixed.steps));
  StridedView view = whole_view(x.dims());
  for (const SlicedAxis& a : axes)
    view = sliced(view, a.axis, a.start.constant(), a.count.constant(), a.step);
  TRY(c.allocate(0, x.dtype(), view.dims));
  copy_view(x, view, c.out(0));
  return {};
}

/// The bounds at run time, one element an axis.
struct Bounds {
  task::SlotId first, count;
};

/// slice_axis() as a program on (start, end, size, step).
Bounds bounds_as_data(LowerContext& c, const Fixed& fixed) {
  using task::PointOp;
  std::vector<Dim> sizes;
  for (const size_t axis : fixed.axes) sizes.push_back(c.in_type(kX).shape[axis]);
  const auto n = static_cast<int64_t>(fixed.axes.size());
  const Bounds bounds{int_temp(c, n), int_temp(c, n)};
  CodeWriter code(4);
  const uint8_t start = 0, end = 1, size = 2, step = 3;
  const uint8_t zero = code.literal(0), one = code.literal(1);
  const uint8_t backward = code.ints(PointOp::kLess, step, zero);
  const uint8_t low = code.ints(PointOp::kNeg, backward);         // -1 or 0
  const uint8_t high = code.ints(PointOp::kSub, size, backward);  // size - 1 or size
  const auto clamped = [&](uint8_t at) {
    const uint8_t wrapped = code.ints(PointOp::kWhere, code.ints(PointOp::kLess, at, zero),
                                      code.ints(PointOp::kAdd, at, size), at);
    return code.ints(PointOp::kMin, code.ints(PointOp::kMax, wrapped, low), high);
  };
  const uint8_t first = clamped(start);
  const uint8_t distance = code.ints(PointOp::kMul, code.ints(PointOp::kSub, clamped(end), first),
                                     code.ints(PointOp::kSign, step));
  const uint8_t stride = code.ints(PointOp::kAbs, step);
  const uint8_t rounded = code.ints(PointOp::kAdd, distance, code.ints(PointOp::kSub, stride, one));
  const uint8_t count = code.ints(PointOp::kMax, code.ints(PointOp::kDiv, rounded, stride), zero);
  const task::SlotId steps = c.constant(Tensor::from_ints(fixed.steps));
  emit_program(c, code.finish({first, count}),
               {c.in(kStarts), c.in(kEnds), dims_as_data(c, sizes), steps},
               {bounds.first, bounds.count});
  return bounds;
}

Result<void> lower_from_data(LowerContext& c, const Fixed& fixed) {
  const ir::TensorType& y = c.out_type(0);
  const Bounds bounds = bounds_as_data(c, fixed);
  std::vector<Dim> counts;
  for (const size_t axis : fixed.axes) counts.push_back(y.shape[axis]);
  TRY(bind_fresh(c, counts, bounds.count));
  ir::TensorType part = c.in_type(kX);
  task::SlotId x = c.in(kX);
  for (size_t k = 0; k < fixed.axes.size(); ++k) {
    const task::SlotId index = int_temp(c, counts[k]);
    CodeWriter code(1);
    const uint8_t walked =
        code.ints(task::PointOp::kMul, code.index(0), code.literal(fixed.steps[k]));
    const uint8_t at = code.ints(task::PointOp::kAdd, 0, walked);
    emit_program(c, code.finish({at}), {c.slice(bounds.first, 0, static_cast<int64_t>(k), 1)},
                 {index});
    part.shape[fixed.axes[k]] = counts[k];
    const task::SlotId to = k + 1 == fixed.axes.size() ? c.out(0) : c.temp(part);
    c.emit(task::GatherTask{
        .x = {x}, .index = {index}, .y = {to}, .axis = static_cast<int8_t>(fixed.axes[k])});
    x = to;
  }
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& x = c.in_type(kX).shape;
  const std::vector<int64_t> none;
  const Fixed fixed = TRY(fixed_parts(c.has(kAxes) ? all_numbers(c.in_ints(kAxes)) : none,
                                      c.has(kSteps) ? all_numbers(c.in_ints(kSteps)) : none,
                                      x.size(), c.in_type(kStarts).shape[0].constant()));
  const std::vector<Dim>*starts = c.in_ints(kStarts), *ends = c.in_ints(kEnds);
  if ((starts == nullptr || ends == nullptr) && !fixed.axes.empty())
    return lower_from_data(c, fixed);
  task::SlotId window = c.in(kX);
  if (!fixed.axes.empty())
    for (const SlicedAxis& a : TRY(slice_axes(x, *starts, *ends, fixed.axes, fixed.steps)))
      window = c.slice(window, a.axis, a.start, a.count, a.step);
  set_out_window(c, 0, window);
  return {};
}

/// Up to opset 9 the bounds are attributes and there are no steps.
Result<void> import_attrs(ir::ImportContext& c) {
  std::vector<ir::ValueId> inputs = {c.in(0), c.b().ints(c.attr_ints("starts")),
                                     c.b().ints(c.attr_ints("ends"))};
  if (c.attrs().contains("axes")) inputs.push_back(c.b().ints(c.attr_ints("axes")));
  c.set_out(0, TRY(c.b().op("slice", inputs)));
  for (const char* done : {"starts", "ends", "axes"}) c.attrs().erase(done);
  return {};
}

}  // namespace

extern constinit const ir::OpDef slice = {
    .name = "slice",
    .doc = "y[.., i, ..] = x[.., start + i * step, ..] on each of the axes, bounds as in numpy",
    .inputs = {"x", "starts", "ends", "axes?", "steps?"},
    .outputs = {"y"},
    .onnx = {{"Slice", 1, import_attrs}, {"Slice", 10}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[5,7] i64{1,-4} i64{9,-1}", "f32[5,7] i64{-1} i64{-9} i64{1} i64{-2}",
              "f32[5,7] i64{3} i64{3} i64{0}", "f32[1,9,4] i64{2} i64{7} i64{1}",
              "i64{3,4,5,6} i64{-1} i64{-9223372036854775807} i64{0} i64{-1}",
              "f32[9] i64[1]<9 i64[1]<20", "f32[7,9] i64[2]<7 i64{-9,-9} i64{0,-1} i64{-1,-2}",
              "f32[2,0,3] i64{0} i64{1} i64{1}",
              "bool[33,17] i64{1,0} i64{33,17} i64{0,1} i64{3,2}",
              "f32[1,128,384] i64{0} i64{1} i64{1}"},
};

}  // namespace tw::ops
