// dropout: in inference nothing is dropped, so the output is the input and the mask is all ones.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  if (c.has(2)) {
    const auto training = c.constant_ints(2);
    if (!training || training->size() != 1 || training->front() != 0)
      return error(Code::kUnsupported, "'training_mode' is ", training ? "true" : "not a constant",
                   ", expected a constant false");
  }
  c.out(0, c.in(0));
  keep_known(c);
  c.out(1, {DType::kBool, c.shape(0)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  c.set_out(0, c.in(0));
  if (!c.has_out(1)) return {};
  TRY(c.allocate(1, DType::kBool, c.in(0).dims()));
  for (int64_t i = 0; i < c.in(0).count(); ++i) c.out(1).set_int(i, 1);
  return {};
}

Result<void> lower(LowerContext& c) {
  c.set_out(0, c.reshape(c.in(0), c.out_type(0).shape));
  if (!c.has_out(1)) return {};
  Tensor one = TRY(Tensor::try_make(DType::kBool, {}));
  one.set_int(0, 1);
  emit_fill(c, one, c.out(1));
  return {};
}

/// Up to opset 11 the ratio is an attribute; it has no say in inference.
Result<void> import_with_ratio(ir::ImportContext& c) {
  c.attrs().erase("ratio");
  const std::vector<ir::ValueId> outputs =
      TRY(c.b().ops("dropout", {c.in(0)}, c.attrs(), c.n_outputs()));
  for (size_t i = 0; i < outputs.size(); ++i) c.set_out(i, outputs[i]);
  c.attrs().clear();
  return {};
}

}  // namespace

extern constinit const ir::OpDef dropout = {
    .name = "dropout",
    .doc = "y = x, mask = true: dropout as inference sees it",
    .inputs = {"x", "ratio?", "training_mode?"},
    .outputs = {"y", "mask?"},
    .attrs = {{"seed", {}}},
    .onnx = {{"Dropout", 7, import_with_ratio}, {"Dropout", 12}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] ; outputs=2 seed=7", "f32[1]", "f32[0,4] ; outputs=2",
              "f16[2,7] f32(0.5) bool(0) ; outputs=2", "f32[1,128,384] f32(0.1) ; seed=7"},
};

}  // namespace tw::ops
