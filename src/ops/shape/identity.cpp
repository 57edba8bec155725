// identity: exporters leave it where they renamed a value.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  c.out(0, c.in(0));
  keep_known(c);
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  c.set_out(0, c.in(0));
  return {};
}

Result<void> lower(LowerContext& c) {
  c.set_out(0, c.reshape(c.in(0), c.out_type(0).shape));
  return {};
}

}  // namespace

extern constinit const ir::OpDef identity = {
    .name = "identity",
    .doc = "y = x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Identity", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5]", "i64[1]", "bool[0,4]", "f16[]", "f32[1,128,384]"},
};

}  // namespace tw::ops
