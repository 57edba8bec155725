// rnn: ONNX RNN with the default activation, h' = tanh(w x + r h + bias).
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_recurrent.h"

namespace tw::ops {
namespace {

Recurrence layer() { return {task::RecurrentTask::Kind::kRnn, 1, {"Tanh"}, false}; }

Result<void> infer(ir::InferContext& c) { return infer_recurrent(c, layer()); }

Result<void> reference(ir::EvalContext& c) {
  const double clip = c.attr_float("clip");
  std::vector<double> before;
  return evaluate_recurrent(c, layer(), [&](const Step& s) {
    before.assign(s.h, s.h + s.hidden);
    for (int64_t i = 0; i < s.hidden; ++i)
      s.h[i] = std::tanh(
          clipped(s.from_input[i] + s.r_bias[i] + recurrent_dot(s, i, before.data()), clip));
  });
}

Result<void> lower(LowerContext& c) { return lower_recurrent(c, layer()); }

}  // namespace

extern constinit const ir::OpDef rnn = {
    .name = "rnn",
    .doc = "h' = tanh(w x + r h + bias)",
    .inputs = {"x", "w", "r", "bias?", "lengths?", "h0?"},
    .outputs = {"y?", "h?"},
    .attrs = {{"activation_alpha", {}},
              {"activation_beta", {}},
              {"activations", {}},
              {"clip", 0.0},
              {"direction", "forward"},
              {"hidden_size", {}},
              {"layout", 0}},
    .onnx = {{"RNN", 7}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[5,2,3] f32[1,4,3] f32[1,4,4] f32[1,8] ; hidden_size=4 activations=[] "
              "activation_alpha=[] activation_beta=[] outputs=2",
              "f32[3,2,5] f32[2,3,5] f32[2,3,3] ; direction=\"bidirectional\" outputs=2",
              "f32[4,2,3] f32[1,5,3] f32[1,5,5] f32[1,10] i32{4,2} f32[1,2,5] ; "
              "direction=\"reverse\" outputs=2",
              "f32[2,4,3] f32[1,2,3] f32[1,2,2] ; layout=1 clip=0.5 outputs=2",
              "f32[0,2,3] f32[1,2,3] f32[1,2,2] ; outputs=2", "f32[1,1,1] f32[1,1,1] f32[1,1,1]",
              "f32[24,4,64] f32[1,64,64]*0.1 f32[1,64,64]*0.1 f32[1,128]*0.1 ; outputs=2"},
};

}  // namespace tw::ops
