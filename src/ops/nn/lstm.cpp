// lstm: ONNX LSTM, gates in the order input, output, forget, cell; peepholes input, output, forget.
// Clipping bounds what goes into the gates' activations.
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_recurrent.h"

namespace tw::ops {
namespace {

Recurrence layer() {
  return {task::RecurrentTask::Kind::kLstm, 4, {"Sigmoid", "Tanh", "Tanh"}, true};
}

Result<void> infer(ir::InferContext& c) { return infer_recurrent(c, layer()); }

Result<void> reference(ir::EvalContext& c) {
  const double clip = c.attr_float("clip");
  const bool couples = c.attr_int("input_forget") != 0;
  std::vector<double> before;
  return evaluate_recurrent(c, layer(), [&](const Step& s) {
    const int64_t n = s.hidden;
    before.assign(s.h, s.h + n);
    const auto gate = [&](int64_t which, int64_t i) {
      const int64_t row = which * n + i;
      return s.from_input[row] + s.r_bias[row] + recurrent_dot(s, row, before.data());
    };
    const auto peep = [&](int64_t which, int64_t i) {
      return s.peephole == nullptr ? 0 : s.peephole[which * n + i];
    };
    for (int64_t i = 0; i < n; ++i) {
      const double input = logistic(clipped(gate(0, i) + peep(0, i) * s.c[i], clip));
      const double forget =
          couples ? 1 - input : logistic(clipped(gate(2, i) + peep(2, i) * s.c[i], clip));
      s.c[i] = forget * s.c[i] + input * std::tanh(clipped(gate(3, i), clip));
      const double output = logistic(clipped(gate(1, i) + peep(1, i) * s.c[i], clip));
      s.h[i] = output * std::tanh(s.c[i]);
    }
  });
}

Result<void> lower(LowerContext& c) { return lower_recurrent(c, layer()); }

}  // namespace

extern constinit const ir::OpDef lstm = {
    .name = "lstm",
    .doc =
        "i, o, f = sigmoid(w x + r h + bias); c' = f * c + i * tanh(w x + r h + bias); h' = o * "
        "tanh(c')",
    .inputs = {"x", "w", "r", "bias?", "lengths?", "h0?", "c0?", "peephole?"},
    .outputs = {"y?", "h?", "c?"},
    .attrs = {{"activation_alpha", {}},
              {"activation_beta", {}},
              {"activations", {}},
              {"clip", 0.0},
              {"direction", "forward"},
              {"hidden_size", {}},
              {"input_forget", 0},
              {"layout", 0}},
    .onnx = {{"LSTM", 7}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases =
        {"f32[5,2,3] f32[1,16,3] f32[1,16,4] f32[1,32] ; hidden_size=4 activations=[] "
         "activation_alpha=[] activation_beta=[] outputs=3",
         "f32[3,2,5] f32[2,12,5] f32[2,12,3] ; direction=\"bidirectional\" outputs=3",
         "f32[4,2,3] f32[1,20,3] f32[1,20,5] f32[1,40] i32{4,2} f32[1,2,5] f32[1,2,5] f32[1,15] ; "
         "direction=\"reverse\" outputs=3",
         "f32[3,1,2] f32[1,12,2] f32[1,12,3] f32[1,24] ; clip=0.3 input_forget=1 outputs=3",
         "f32[2,4,3] f32[1,8,3] f32[1,8,2] f32[1,16] - f32[2,1,2] f32[2,1,2] ; layout=1 outputs=3",
         "f32[0,2,3] f32[1,8,3] f32[1,8,2] ; outputs=3", "f32[1,1,1] f32[1,4,1] f32[1,4,1]",
         "f32[24,1,128] f32[1,512,128]*0.1 f32[1,512,128]*0.1 f32[1,1024]*0.1 - f32[1,1,128] "
         "f32[1,1,128] ; "
         "outputs=3"},
};

}  // namespace tw::ops
