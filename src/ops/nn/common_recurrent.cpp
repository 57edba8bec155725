#include "ops/nn/common_recurrent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/op_def.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

using Direction = uint8_t;  // as RecurrentTask counts them: 0 forward, 1 reverse, 2 both

enum Input : size_t {
  kX,
  kW,
  kR,
  kBias,
  kLengths,
  kH0,
  kC0,
  kPeephole
};

Result<Direction> direction_of(const ir::NodeView& view) {
  const std::string name = view.attr_string("direction");
  if (name == "forward") return Direction{0};
  if (name == "reverse") return Direction{1};
  if (name == "bidirectional") return Direction{2};
  return error(Code::kInvalidModel, "attribute 'direction' is '", name,
               "', expected forward, reverse or bidirectional");
}

Result<void> check_activations(const ir::NodeView& view, const Recurrence& layer,
                               int64_t n_directions) {
  const ir::Attr* attr = ir::find_attr(view.node(), "activations");
  const auto* none = attr == nullptr ? nullptr : std::get_if<std::vector<int64_t>>(attr);
  if (attr == nullptr || (none != nullptr && none->empty()))
    return {};  // text cannot tell which kind an empty list is
  const auto* found = std::get_if<std::vector<std::string>>(attr);
  std::vector<std::string> expected;
  for (int64_t d = 0; d < n_directions; ++d)
    expected.insert(expected.end(), layer.activations.begin(), layer.activations.end());
  if (found != nullptr && *found == expected) return {};
  return error(Code::kUnsupported, "attribute 'activations' is [",
               found == nullptr ? "" : join(*found, ","), "], only the default [",
               join(expected, ","), "] is supported");
}

Result<void> check_attrs(const ir::NodeView& view, const Recurrence& layer, int64_t n_directions,
                         const Dim& hidden) {
  TRY(check_activations(view, layer, n_directions));
  const int64_t stated = view.has_attr("hidden_size") ? view.attr_int("hidden_size") : 0;
  if (stated != 0 && surely_differ(Dim(stated), hidden))
    return error(Code::kInvalidModel, "attribute 'hidden_size' is ", stated,
                 ", but 'r' has rows of ", hidden);
  const int64_t layout = view.attr_int("layout");
  if (layout != 0 && layout != 1)
    return error(Code::kInvalidModel, "attribute 'layout' is ", layout, ", expected 0 or 1");
  return {};
}

bool batch_first(const ir::NodeView& view) { return view.attr_int("layout") == 1; }

}  // namespace

Result<void> infer_recurrent(ir::InferContext& c, const Recurrence& layer) {
  TRY(expect_float(c, kX));
  if (c.rank(kX) != 3 || c.rank(kW) != 3 || c.rank(kR) != 3)
    return error(Code::kInvalidModel, "'x', 'w' and 'r' have ranks ", c.rank(kX), ", ", c.rank(kW),
                 " and ", c.rank(kR), ", expected 3");
  const Direction direction = TRY(direction_of(c));
  const int64_t n_directions = direction == 2 ? 2 : 1;
  const Dim dirs(n_directions), hidden = c.shape(kR)[2], rows = hidden * Dim(layer.n_gates);
  const Dim seq = c.shape(kX)[batch_first(c) ? 1 : 0], batch = c.shape(kX)[batch_first(c) ? 0 : 1];
  TRY(check_attrs(c, layer, n_directions, hidden));
  const ir::Shape state =
      batch_first(c) ? ir::Shape{batch, dirs, hidden} : ir::Shape{dirs, batch, hidden};
  TRY(expect_shape(c, kW, {dirs, rows, c.shape(kX)[2]}));
  TRY(expect_shape(c, kR, {dirs, rows, hidden}));
  TRY(expect_shape(c, kBias, {dirs, rows * Dim(2)}));
  TRY(expect_shape(c, kLengths, {batch}));
  TRY(expect_shape(c, kH0, state));
  TRY(expect_shape(c, kC0, state));
  TRY(expect_shape(c, kPeephole, {dirs, hidden * Dim(3)}));
  for (const size_t i : {kW, kR, kBias, kH0, kC0, kPeephole}) TRY(expect_same_type(c, kX, i));
  if (c.has(kLengths) && c.in(kLengths).dtype != DType::kI32)
    return error(Code::kInvalidModel, "input 'lengths' is ", c.in(kLengths).dtype,
                 ", expected i32");
  const DType dtype = c.in(kX).dtype;
  c.out(0, {dtype, batch_first(c) ? ir::Shape{batch, seq, dirs, hidden}
                                  : ir::Shape{seq, dirs, batch, hidden}});
  c.out(1, {dtype, state});
  c.out(2, {dtype, state});
  return {};
}

namespace {

/// Tasks have the sequence first: operands that have the batch first are copied on their way in and
/// out. A permutation of layout 1's dims gives layout 0's.
class LayoutCopies {
 public:
  explicit LayoutCopies(LowerContext& c) : c_(c), needed_(batch_first(c)) {}

  task::In in(size_t i, bool has_batch = false) {
    if (!c_.has(i)) return {};
    if (!has_batch || !needed_) return {c_.in(i)};
    const task::SlotId from = c_.permute(c_.in(i), {1, 0, 2});
    const task::SlotId to = c_.temp({c_.in_type(i).dtype, c_.dims(from)});
    copy(from, to);
    return {to};
  }
  /// `permutation` brings the output to layout 0.
  task::Out out(size_t i, const std::vector<int64_t>& permutation) {
    if (!c_.has_out(i)) return {};
    if (!needed_) return {c_.out(i)};
    const task::SlotId to = c_.permute(c_.out(i), permutation);
    const task::SlotId from = c_.temp({c_.out_type(i).dtype, c_.dims(to)});
    pending_.push_back({from, to});
    return {from};
  }
  /// Copies the outputs; after the task.
  void finish() {
    for (const auto& [from, to] : pending_) copy(from, to);
  }

 private:
  void copy(task::SlotId from, task::SlotId to) {
    task::CopyTask task;
    task.x = {from};
    task.y = {to};
    c_.emit(task);
  }
  LowerContext& c_;
  bool needed_;
  std::vector<std::pair<task::SlotId, task::SlotId>> pending_;
};

}  // namespace

Result<void> lower_recurrent(LowerContext& c, const Recurrence& layer) {
  LayoutCopies copies(c);
  task::RecurrentTask task;
  task.x = copies.in(kX, true);
  task.w = copies.in(kW);
  task.r = copies.in(kR);
  task.bias = copies.in(kBias);
  task.lengths = copies.in(kLengths);
  task.h0 = copies.in(kH0, true);
  task.c0 = copies.in(kC0, true);
  task.peephole = copies.in(kPeephole);
  task.y = copies.out(0, {1, 2, 0, 3});
  task.h = copies.out(1, {1, 0, 2});
  if (layer.has_cell) task.c = copies.out(2, {1, 0, 2});
  task.clip = static_cast<float>(c.attr_float("clip"));
  task.kind = layer.kind;
  task.direction = TRY(direction_of(c));
  if (layer.kind == task::RecurrentTask::Kind::kGru)
    task.linear_before_reset = c.attr_int("linear_before_reset") != 0 ? 1 : 0;
  if (layer.has_cell) task.input_forget = c.attr_int("input_forget") != 0 ? 1 : 0;
  c.emit(task);
  copies.finish();
  return {};
}

namespace {

/// The operands of an evaluation, and where a sequence's elements lie in either layout.
struct Layer {
  int64_t seq, batch, n_directions, hidden, n_input, rows;
  bool is_batch_first;
  std::vector<double> x, w, r, bias, peephole, h, c;

  int64_t x_at(int64_t t, int64_t b) const {
    return (is_batch_first ? b * seq + t : t * batch + b) * n_input;
  }
  int64_t y_at(int64_t t, int64_t d, int64_t b) const {
    return (is_batch_first ? (b * seq + t) * n_directions + d
                           : (t * n_directions + d) * batch + b) *
           hidden;
  }
  int64_t state_at(int64_t d, int64_t b) const {
    return (is_batch_first ? b * n_directions + d : d * batch + b) * hidden;
  }
};

Layer make_layer(const ir::EvalContext& c, const Recurrence& layer, int64_t n_directions) {
  const Dims& x = c.in(kX).dims();
  Layer l;
  l.is_batch_first = batch_first(c);
  l.seq = x[l.is_batch_first ? 1 : 0];
  l.batch = x[l.is_batch_first ? 0 : 1];
  l.n_directions = n_directions;
  l.hidden = c.in(kR).dims()[2];
  l.n_input = x[2];
  l.rows = l.hidden * layer.n_gates;
  const auto values = [&](size_t i, int64_t count) {
    return c.has(i) ? to_doubles(c.in(i)) : std::vector<double>(static_cast<size_t>(count), 0.0);
  };
  l.x = values(kX, 0);
  l.w = values(kW, 0);
  l.r = values(kR, 0);
  l.bias = values(kBias, n_directions * l.rows * 2);
  l.h = values(kH0, n_directions * l.batch * l.hidden);
  l.c = values(kC0, n_directions * l.batch * l.hidden);
  l.peephole = values(kPeephole, 0);
  return l;
}

/// w x + w's bias for one row of x.
void project(const Layer& l, int64_t d, const double* x, std::vector<double>& to) {
  for (int64_t row = 0; row < l.rows; ++row) {
    const double* const w = l.w.data() + (d * l.rows + row) * l.n_input;
    double sum = l.bias[static_cast<size_t>(d * 2 * l.rows + row)];
    for (int64_t i = 0; i < l.n_input; ++i) sum += w[i] * x[i];
    to[static_cast<size_t>(row)] = sum;
  }
}

}  // namespace

Result<void> evaluate_recurrent(ir::EvalContext& c, const Recurrence& layer,
                                const std::function<void(const Step&)>& step) {
  const Direction direction = TRY(direction_of(c));
  Layer l = make_layer(c, layer, direction == 2 ? 2 : 1);
  std::vector<double> y(static_cast<size_t>(l.seq * l.n_directions * l.batch * l.hidden));
  std::vector<double> projected(static_cast<size_t>(l.rows));
  for (int64_t d = 0; d < l.n_directions; ++d)
    for (int64_t b = 0; b < l.batch; ++b) {
      const int64_t length = c.has(kLengths) ? c.in(kLengths).int_at(b) : l.seq;
      if (length < 0 || length > l.seq)
        return error(Code::kInvalidModel, "'lengths' holds ", length, ", expected 0 to ", l.seq);
      const bool backwards = direction == 1 || d == 1;
      Step now{projected.data(),
               l.bias.data() + d * 2 * l.rows + l.rows,
               l.r.data() + d * l.rows * l.hidden,
               l.peephole.empty() ? nullptr : l.peephole.data() + d * 3 * l.hidden,
               l.h.data() + l.state_at(d, b),
               l.c.data() + l.state_at(d, b),
               l.hidden};
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = backwards ? length - 1 - i : i;
        project(l, d, l.x.data() + l.x_at(t, b), projected);
        step(now);
        std::copy_n(now.h, l.hidden, y.data() + l.y_at(t, d, b));
      }
    }
  if (c.has_out(0)) from_doubles(y, c.out(0));
  if (c.has_out(1)) from_doubles(l.h, c.out(1));
  if (c.has_out(2)) from_doubles(l.c, c.out(2));
  return {};
}

double recurrent_dot(const Step& step, int64_t row, const double* h) {
  const double* const r = step.r + row * step.hidden;
  double sum = 0;
  for (int64_t j = 0; j < step.hidden; ++j) sum += r[j] * h[j];
  return sum;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

double clipped(double x, double limit) { return limit == 0 ? x : std::clamp(x, -limit, limit); }

}  // namespace tw::ops
