// LSTM, GRU and RNN against the equations of the ONNX operators, one sequence and one unit at a
// time.
#include <cmath>

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

using task::RecurrentTask;
using Kind = RecurrentTask::Kind;

struct Case {
  Kind kind;
  int direction = 0;
  bool lengths = false, peephole = false, input_forget = false, linear_before_reset = false;
  float clip = 0;
};

constexpr int64_t kSteps = 4, kBatch = 3, kInput = 5, kHidden = 6;

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

/// One direction of one sequence, state by state.
class Sequence {
 public:
  Sequence(Net& net, const RecurrentTask& t, int64_t dir, int64_t batch)
      : net_(net), t_(t), dir_(dir), batch_(batch) {
    for (int64_t i = 0; i < kHidden; ++i) {
      h.push_back(net.get(t.h0.id, {dir, batch, i}));
      c.push_back(t.kind == Kind::kLstm ? net.get(t.c0.id, {dir, batch, i}) : 0);
    }
  }

  void step(int64_t step) {
    step_ = step;
    if (t_.kind == Kind::kLstm) lstm();
    if (t_.kind == Kind::kGru) gru();
    if (t_.kind == Kind::kRnn) {
      std::vector<double> next;
      for (int64_t i = 0; i < kHidden; ++i)
        next.push_back(std::tanh(clipped(input(0, i) + state(0, i, h))));
      h = next;
    }
  }

  std::vector<double> h, c;

 private:
  int64_t gates() const { return t_.kind == Kind::kLstm ? 4 : t_.kind == Kind::kGru ? 3 : 1; }
  double clipped(double v) const {
    return t_.clip > 0 ? std::fmax(-t_.clip, std::fmin(t_.clip, v)) : v;
  }
  double input(int64_t gate, int64_t i) {
    double sum = net_.get(t_.bias.id, {dir_, gate * kHidden + i});
    for (int64_t k = 0; k < kInput; ++k) {
      sum +=
          net_.get(t_.x.id, {step_, batch_, k}) * net_.get(t_.w.id, {dir_, gate * kHidden + i, k});
    }
    return sum;
  }
  double state(int64_t gate, int64_t i, const std::vector<double>& from) {
    double sum = net_.get(t_.bias.id, {dir_, (gates() + gate) * kHidden + i});
    for (int64_t k = 0; k < kHidden; ++k) {
      sum += from[size_t(k)] * net_.get(t_.r.id, {dir_, gate * kHidden + i, k});
    }
    return sum;
  }
  double peephole(int64_t which, int64_t i) {
    return t_.peephole.id == task::kNoSlot ? 0
                                           : net_.get(t_.peephole.id, {dir_, which * kHidden + i});
  }

  void lstm() {
    std::vector<double> next_h, next_c;
    for (int64_t i = 0; i < kHidden; ++i) {
      const double old = c[size_t(i)];
      const auto pre = [&](int64_t gate) { return input(gate, i) + state(gate, i, h); };
      const double in = sigmoid(clipped(pre(0) + peephole(0, i) * old));
      const double forget =
          t_.input_forget != 0 ? 1 - in : sigmoid(clipped(pre(2) + peephole(2, i) * old));
      next_c.push_back(forget * old + in * std::tanh(clipped(pre(3))));
      const double out = sigmoid(clipped(pre(1) + peephole(1, i) * next_c.back()));
      next_h.push_back(out * std::tanh(next_c.back()));
    }
    h = next_h;
    c = next_c;
  }

  void gru() {
    std::vector<double> update, reset, reset_h, next;
    for (int64_t i = 0; i < kHidden; ++i) {
      update.push_back(sigmoid(clipped(input(0, i) + state(0, i, h))));
      reset.push_back(sigmoid(clipped(input(1, i) + state(1, i, h))));
      reset_h.push_back(reset.back() * h[size_t(i)]);
    }
    for (int64_t i = 0; i < kHidden; ++i) {
      const double recurrent =
          t_.linear_before_reset != 0 ? reset[size_t(i)] * state(2, i, h) : state(2, i, reset_h);
      const double candidate = std::tanh(clipped(input(2, i) + recurrent));
      next.push_back((1 - update[size_t(i)]) * candidate + update[size_t(i)] * h[size_t(i)]);
    }
    h = next;
  }

  Net& net_;
  const RecurrentTask& t_;
  const int64_t dir_, batch_;
  int64_t step_ = 0;
};

RecurrentTask make_task(Net& net, const Case& c) {
  RecurrentTask t;
  const int64_t dirs = c.direction == 2 ? 2 : 1;
  const int64_t width = (c.kind == Kind::kLstm ? 4 : c.kind == Kind::kGru ? 3 : 1) * kHidden;
  t.kind = c.kind;
  t.direction = static_cast<uint8_t>(c.direction);
  t.clip = c.clip;
  t.input_forget = c.input_forget ? 1 : 0;
  t.linear_before_reset = c.linear_before_reset ? 1 : 0;
  t.x.id = net.add(DType::kF32, {kSteps, kBatch, kInput}, Lie::kGaps);
  t.w.id = net.add_immutable(DType::kF32, {dirs, width, kInput});
  t.r.id = net.add(DType::kF32, {dirs, width, kHidden});
  t.bias.id = net.add(DType::kF32, {dirs, 2 * width});
  t.h0.id = net.add(DType::kF32, {dirs, kBatch, kHidden});
  if (c.lengths) {
    t.lengths.id = net.add(DType::kI32, {kBatch});
    for (int64_t b = 0; b < kBatch; ++b) net.set(t.lengths.id, {b}, double(2 * b));
  }
  t.y.id = net.add(DType::kF32, {kSteps, dirs, kBatch, kHidden});
  t.h.id = net.add(DType::kF32, {dirs, kBatch, kHidden});
  if (c.kind == Kind::kLstm) {
    t.c0.id = net.add(DType::kF32, {dirs, kBatch, kHidden});
    t.c.id = net.add(DType::kF32, {dirs, kBatch, kHidden});
    if (c.peephole) t.peephole.id = net.add(DType::kF32, {dirs, 3 * kHidden});
  }
  net.add_task(t);
  return t;
}

/// y at `at` [step, dir, batch, unit], or the final h when the step is -1.
double expected_at(Net& net, const RecurrentTask& t, const Dims& at, bool wants_cell) {
  const int64_t dir = at[1], batch = at[2], unit = at[3];
  const int64_t length =
      t.lengths.id == task::kNoSlot ? kSteps : net.get_int(t.lengths.id, {batch});
  const bool reverse = t.direction == 1 || dir == 1;
  Sequence sequence(net, t, dir, batch);
  for (int64_t s = 0; s < length; ++s) {
    const int64_t step = reverse ? length - 1 - s : s;
    sequence.step(step);
    if (step == at[0]) return sequence.h[size_t(unit)];
  }
  if (at[0] >= 0) return 0;
  return wants_cell ? sequence.c[size_t(unit)] : sequence.h[size_t(unit)];
}

TEST(RecurrentTask, FollowsTheEquations) {
  const Case cases[] = {{Kind::kLstm},
                        {Kind::kLstm, 1, true, true},
                        {Kind::kLstm, 2, true, true, true, false, 0.5F},
                        {Kind::kGru},
                        {Kind::kGru, 2, true, false, false, true},
                        {Kind::kGru, 1, true, false, false, false, 0.7F},
                        {Kind::kRnn, 2, true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(cat("kind ", static_cast<int>(c.kind), " direction ", c.direction));
    Net net(51);
    const RecurrentTask t = make_task(net, c);
    expect_result(
        net, t.y.id, [&](const Dims& at) { return expected_at(net, t, at, false); }, 1e-5);
    expect_result(
        net, t.h.id,
        [&](const Dims& at) { return expected_at(net, t, {-1, at[0], at[1], at[2]}, false); },
        1e-5);
    if (c.kind != Kind::kLstm) continue;
    expect_result(
        net, t.c.id,
        [&](const Dims& at) { return expected_at(net, t, {-1, at[0], at[1], at[2]}, true); }, 1e-5);
  }
}

}  // namespace
}  // namespace tw::cpu
