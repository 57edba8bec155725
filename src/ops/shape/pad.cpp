// pad: constant padding fills the output and copies x into its inside; the other modes gather along
// each padded axis, whose index is a small computed list. Negative pads crop.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

enum Input : size_t {
  kX,
  kPads,
  kValue,
  kAxes
};
enum class Mode : uint8_t {
  kConstant,
  kReflect,
  kEdge,
  kWrap
};

Result<Mode> mode_of(const ir::NodeView& node) {
  const std::string name = node.attr_string("mode");
  if (name == "constant") return Mode::kConstant;
  if (name == "reflect") return Mode::kReflect;
  if (name == "edge") return Mode::kEdge;
  if (name == "wrap") return Mode::kWrap;
  return error(Code::kInvalidModel, "attribute 'mode' is '", name,
               "', expected constant, reflect, edge or wrap");
}

/// Elements added before and behind each axis of x.
struct Pads {
  std::vector<Dim> before, behind;
};

Result<Pads> pads_of(const std::vector<Dim>& pads, const std::optional<std::vector<int64_t>>& axes,
                     size_t rank) {
  std::vector<size_t> padded;
  if (axes)
    padded = TRY(distinct_axes(*axes, rank, "'axes'"));
  else
    for (size_t d = 0; d < rank; ++d) padded.push_back(d);
  const size_t n = padded.size();
  if (pads.size() != 2 * n)
    return error(Code::kInvalidModel, "'pads' has ", pads.size(), " elements, expected ", 2 * n);
  Pads all{std::vector<Dim>(rank, Dim(0)), std::vector<Dim>(rank, Dim(0))};
  for (size_t k = 0; k < n; ++k) {
    all.before[padded[k]] = pads[k];
    all.behind[padded[k]] = pads[n + k];
  }
  return all;
}

ir::Shape padded_shape(const ir::Shape& x, const Pads& pads) {
  ir::Shape y;
  for (size_t d = 0; d < x.size(); ++d)
    y.push_back(at_least_zero(x[d] + pads.before[d] + pads.behind[d]));
  return y;
}

Result<void> infer(ir::InferContext& c) {
  TRY(mode_of(c));
  const auto known = known_elements(c, kPads);
  const auto axes = c.constant_ints(kAxes);
  if (!known)
    return error(Code::kUnsupported,
                 "'pads' follows from data, expected numbers known from shapes");
  if (c.has(kAxes) && !axes)
    return error(Code::kUnsupported, "'axes' follows from data, expected a constant");
  if (c.has(kValue) && c.in(kValue).dtype != c.in(kX).dtype)
    return error(Code::kInvalidModel, "'value' is ", c.in(kValue).dtype, ", expected ",
                 c.in(kX).dtype, " as 'x'");
  if (c.has(kValue) && !(ir::element_count(c.shape(kValue)) == Dim(1)))
    return error(Code::kInvalidModel, "'value' is ", c.in(kValue), ", expected one element");
  const Pads pads = TRY(pads_of(*known, axes, c.shape(kX).size()));
  c.out(0, {c.in(kX).dtype, padded_shape(c.shape(kX), pads)});
  return {};
}

/// The coordinate of x that coordinate `at` (counted from x's first) shows on an axis of `size`;
/// constant mode: -1 outside.
int64_t source_of(Mode mode, int64_t at, int64_t size) {
  const auto modulo = [](int64_t a, int64_t b) { return a - b * floor_div(a, b); };
  switch (mode) {
    case Mode::kConstant:
      return at >= 0 && at < size ? at : -1;
    case Mode::kEdge:
      return std::clamp<int64_t>(at, 0, size - 1);
    case Mode::kWrap:
      return modulo(at, size);
    case Mode::kReflect: {
      const int64_t period = std::max<int64_t>(1, 2 * (size - 1));
      const int64_t phase = modulo(at, period);
      return std::min(phase, period - phase);
    }
  }
  return -1;
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &x = c.in(kX), &given = c.in(kPads);
  const Mode mode = TRY(mode_of(c));
  std::vector<Dim> numbers;
  for (int64_t i = 0; i < given.count(); ++i) numbers.emplace_back(given.int_at(i));
  std::optional<std::vector<int64_t>> axes;
  if (c.has(kAxes)) {
    axes.emplace();
    for (int64_t i = 0; i < c.in(kAxes).count(); ++i) axes->push_back(c.in(kAxes).int_at(i));
  }
  const Pads pads = TRY(pads_of(numbers, axes, x.dims().size()));
  TRY(c.allocate(0, x.dtype(), *ir::concrete(padded_shape(ir::to_shape(x.dims()), pads))));
  if (mode != Mode::kConstant && x.count() == 0 && c.out(0).count() > 0)
    return error(Code::kInvalidArgument, "'x' ", x.type_text(), " has no elements to pad with");
  const StridedView from = whole_view(x.dims());
  for_each_coordinate(c.out(0).dims(), [&](const Dims& at, int64_t i) {
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t source = source_of(mode, at[d] - pads.before[d].constant(), x.dims()[d]);
      element = source < 0 || element < 0 ? -1 : element + source * from.strides[d];
    }
    if (element >= 0)
      copy_elements(x, element, c.out(0), i);
    else if (c.has(kValue))
      copy_elements(c.in(kValue), 0, c.out(0), i);
  });
  return {};
}

/// Fills `slot` with the pad value.
void fill(LowerContext& c, task::SlotId slot) {
  if (c.has(kValue))
    return emit_copy(c, c.broadcast(c.reshape(c.in(kValue), {}), c.dims(slot)), slot);
  auto zero = Tensor::try_make(c.in_type(kX).dtype, {});
  CHECK(zero.ok(), "one element fits in memory");
  emit_fill(c, zero.value(), slot);
}

/// Two slabs of padding an axis, each within what the axes before it left, and the rest a copy:
/// every element is written once.
void lower_constant(LowerContext& c, const Pads& pads) {
  const ir::Shape& x = c.in_type(kX).shape;
  task::SlotId inside = c.in(kX), window = c.out(0);
  for (size_t d = 0; d < x.size(); ++d) {
    const Dim& size = c.out_type(0).shape[d];
    const Dim cropped = tight_min(at_least_zero(Dim(0) - pads.before[d]), x[d]);
    const Dim count = at_least_zero(x[d] - cropped - at_least_zero(Dim(0) - pads.behind[d]));
    // A crop of more than x takes from the padding on the other side.
    const Dim before = tight_min(at_least_zero(pads.before[d]), size);
    const Dim behind = tight_min(at_least_zero(pads.behind[d]), size);
    if (!(before == Dim(0))) fill(c, c.slice(window, d, 0, before));
    if (!(behind == Dim(0))) fill(c, c.slice(window, d, size - behind, behind));
    inside = c.slice(inside, d, cropped, count);
    window = c.slice(window, d, before, count);
  }
  emit_copy(c, inside, window);
}

/// source_of() for each coordinate of a padded axis: i64[padded].
task::SlotId source_index(LowerContext& c, Mode mode, const Dim& size, const Dim& before,
                          const Dim& padded) {
  using task::PointOp;
  CodeWriter code(2);  // size of x, pad before
  const uint8_t zero = code.literal(0), one = code.literal(1);
  const uint8_t at = code.ints(PointOp::kSub, code.index(0), 1);
  uint8_t source = 0;
  if (mode == Mode::kEdge) {
    const uint8_t last = code.ints(PointOp::kSub, 0, one);
    source = code.ints(PointOp::kMax, code.ints(PointOp::kMin, at, last), zero);
  } else if (mode == Mode::kWrap) {
    source = code.ints(PointOp::kMod, at, 0);
  } else {
    const uint8_t last = code.ints(PointOp::kSub, 0, one);
    const uint8_t period = code.ints(PointOp::kMax, code.ints(PointOp::kAdd, last, last), one);
    const uint8_t phase = code.ints(PointOp::kMod, at, period);
    source = code.ints(PointOp::kMin, phase, code.ints(PointOp::kSub, period, phase));
  }
  const task::SlotId index = int_temp(c, padded);
  // A pad may be negative, which no shape can count: it is a difference of two sizes then.
  const task::SlotId offset =
      dims_as_data(c, {at_least_zero(before), at_least_zero(Dim(0) - before)});
  const task::SlotId signed_before = int_temp(c, 1);
  CodeWriter difference(2);
  const uint8_t value = difference.ints(PointOp::kSub, 0, 1);
  emit_program(c, difference.finish({value}), {c.slice(offset, 0, 0, 1), c.slice(offset, 0, 1, 1)},
               {signed_before});
  emit_program(c, code.finish({source}), {dims_as_data(c, {size}), signed_before}, {index});
  return index;
}

Result<void> lower(LowerContext& c) {
  const ir::Shape &x = c.in_type(kX).shape, &y = c.out_type(0).shape;
  const Mode mode = TRY(mode_of(c));
  const std::optional<std::vector<int64_t>> axes =
      all_numbers(c.has(kAxes) ? c.in_ints(kAxes) : nullptr);
  const Pads pads = TRY(pads_of(*c.in_ints(kPads), axes, x.size()));
  std::vector<size_t> padded;
  for (size_t d = 0; d < x.size(); ++d)
    if (!(pads.before[d] == Dim(0) && pads.behind[d] == Dim(0))) padded.push_back(d);
  if (padded.empty()) {
    c.set_out(0, c.reshape(c.in(kX), y));
    return {};
  }
  if (mode == Mode::kConstant) {
    lower_constant(c, pads);
    return {};
  }
  ir::TensorType part = c.in_type(kX);
  task::SlotId from = c.in(kX);
  for (const size_t d : padded) {
    const task::SlotId index = source_index(c, mode, x[d], pads.before[d], y[d]);
    part.shape[d] = y[d];
    const task::SlotId to = d == padded.back() ? c.out(0) : c.temp(part);
    c.emit(
        task::GatherTask{.x = {from}, .index = {index}, .y = {to}, .axis = static_cast<int8_t>(d)});
    from = to;
  }
  return {};
}

/// Up to opset 10 pads and value are attributes.
Result<void> import_attrs(ir::ImportContext& c) {
  const ir::ValueId pads = c.b().ints(c.attr_ints("pads"));
  const ir::ValueId value = c.b().scalar(c.value(0).type.dtype, c.attr_float("value", 0));
  c.set_out(0, TRY(c.b().op("pad", {c.in(0), pads, value},
                            {{"mode", c.attr_string("mode", "constant")}})));
  for (const char* done : {"pads", "value", "mode"}) c.attrs().erase(done);
  return {};
}

}  // namespace

extern constinit const ir::OpDef pad = {
    .name = "pad",
    .doc =
        "x with pads[k] elements before and pads[n + k] behind the k-th of its axes (or of the n "
        "axes given)",
    .inputs = {"x", "pads", "value?", "axes?"},
    .outputs = {"y"},
    .attrs = {{"mode", "constant"}},
    .onnx = {{"Pad", 2, import_attrs}, {"Pad", 11}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] i64{1,0,0,2} f32(2.5)", "f32[3,5] i64{0,2,1,-3}", "f32[3,0] i64{0,2,1,-3}",
              "f32[2,3] i64{3,0,-4,0} f32(2.5)", "f32[2,3] i64{-4,0,3,0} f32(2.5)",
              "f32[2,3] i64{-2,-3,0,-4}", "f32[3,5] i64{2,3} - i64{-1} ; mode=\"reflect\"",
              "f32[3,5] i64{1,2,3,1} ; mode=\"edge\"", "f32[3,5] i64{4,0,2,6} ; mode=\"wrap\"",
              "f32[4,1] i64{0,2,0,1} ; mode=\"reflect\"", "f32[0,4] i64{1,1,0,0} f32[]",
              "f32[3,5] i64{0,0,0,0}", "bool[2,3] i64{1,1,1,1} bool(1)",
              "i64[7] i64{-2,3} ; mode=\"edge\"", "f32[1,64,56,56] i64{0,0,1,1,0,0,1,1}"},
};

}  // namespace tw::ops
