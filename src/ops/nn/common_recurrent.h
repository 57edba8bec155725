// common_recurrent.h: what lstm, gru and rnn share. Shapes with layout 0: x [seq, batch, input], w
// [dirs, gates * hidden, input], r [dirs, gates * hidden, hidden], bias [dirs, 2 * gates * hidden],
// lengths [batch], states [dirs, batch, hidden]; y [seq, dirs, batch, hidden]. Layout 1 has batch
// first everywhere.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/contexts.h"
#include "ops/lower.h"

namespace tw::ops {

/// Which kind of layer a node is.
struct Recurrence {
  task::RecurrentTask::Kind kind;
  int64_t n_gates;
  /// The activations of one direction that tasks compute; any others are declined.
  std::vector<std::string> activations;
  bool has_cell;  // a second state (lstm)
};

Result<void> infer_recurrent(ir::InferContext& c, const Recurrence& layer);
Result<void> lower_recurrent(LowerContext& c, const Recurrence& layer);

/// One sequence in one direction at one step, as a step function sees it.
struct Step {
  /// [gates * hidden] each: w x + w's bias, and r's bias.
  const double* from_input;
  const double* r_bias;
  const double* r;         // [gates * hidden, hidden]
  const double* peephole;  // [3 * hidden] or null
  double* h;               // [hidden], in: before, out: after
  double* c;
  int64_t hidden;
};
/// Evaluates a layer; `step` advances the state of one sequence.
Result<void> evaluate_recurrent(ir::EvalContext& c, const Recurrence& layer,
                                const std::function<void(const Step&)>& step);

/// sum_j r[row, j] * h[j].
double recurrent_dot(const Step& step, int64_t row, const double* h);
double logistic(double x);
/// x between -limit and limit; a limit of 0 is none.
double clipped(double x, double limit);

}  // namespace tw::ops
