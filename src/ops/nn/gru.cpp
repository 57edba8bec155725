// gru: ONNX GRU, gates in the order update, reset, hidden. With linear_before_reset the reset gate
// works on r h + its bias, else on h.
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_recurrent.h"

namespace tw::ops {
namespace {

Recurrence layer() { return {task::RecurrentTask::Kind::kGru, 3, {"Sigmoid", "Tanh"}, false}; }

Result<void> infer(ir::InferContext& c) { return infer_recurrent(c, layer()); }

Result<void> reference(ir::EvalContext& c) {
  const double clip = c.attr_float("clip");
  const bool linear_before_reset = c.attr_int("linear_before_reset") != 0;
  std::vector<double> before, update, reset, masked;
  return evaluate_recurrent(c, layer(), [&](const Step& s) {
    const int64_t n = s.hidden;
    before.assign(s.h, s.h + n);
    update.clear();
    reset.clear();
    masked.clear();
    for (int64_t i = 0; i < n; ++i) {
      const auto gate = [&](int64_t row) {
        return logistic(clipped(
            s.from_input[row] + s.r_bias[row] + recurrent_dot(s, row, before.data()), clip));
      };
      update.push_back(gate(i));
      reset.push_back(gate(n + i));
      masked.push_back(reset.back() * before[static_cast<size_t>(i)]);
    }
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      const int64_t row = 2 * n + i;
      const double recurrent =
          linear_before_reset ? reset[at] * (recurrent_dot(s, row, before.data()) + s.r_bias[row])
                              : recurrent_dot(s, row, masked.data()) + s.r_bias[row];
      const double hidden = std::tanh(clipped(s.from_input[row] + recurrent, clip));
      s.h[i] = (1 - update[at]) * hidden + update[at] * before[at];
    }
  });
}

Result<void> lower(LowerContext& c) { return lower_recurrent(c, layer()); }

}  // namespace

extern constinit const ir::OpDef gru = {
    .name = "gru",
    .doc = "z, r = sigmoid(w x + r h + bias); h' = (1 - z) * tanh(w x + r (r * h) + bias) + z * h",
    .inputs = {"x", "w", "r", "bias?", "lengths?", "h0?"},
    .outputs = {"y?", "h?"},
    .attrs = {{"activation_alpha", {}},
              {"activation_beta", {}},
              {"activations", {}},
              {"clip", 0.0},
              {"direction", "forward"},
              {"hidden_size", {}},
              {"layout", 0},
              {"linear_before_reset", 0}},
    .onnx = {{"GRU", 7}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases =
        {"f32[5,2,3] f32[1,12,3] f32[1,12,4] f32[1,24] ; hidden_size=4 activations=[] "
         "activation_alpha=[] activation_beta=[] outputs=2",
         "f32[3,2,5] f32[2,9,5] f32[2,9,3] f32[2,18] ; direction=\"bidirectional\" "
         "linear_before_reset=1 outputs=2",
         "f32[4,2,3] f32[1,15,3] f32[1,15,5] f32[1,30] i32{4,2} f32[1,2,5] ; direction=\"reverse\" "
         "outputs=2",
         "f32[2,4,3] f32[1,6,3] f32[1,6,2] f32[1,12] - f32[2,1,2] ; layout=1 clip=0.5 outputs=2",
         "f32[0,2,3] f32[1,6,3] f32[1,6,2] ; outputs=2", "f32[1,1,1] f32[1,3,1] f32[1,3,1]",
         "f32[24,1,96] f32[2,288,96]*0.1 f32[2,288,96]*0.1 f32[2,576]*0.1 ; "
         "direction=\"bidirectional\" "
         "outputs=2"},
};

}  // namespace tw::ops
