// size: the number of elements as data.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  c.out(0, {DType::kI64, {}});
  c.out_ints(0, {ir::element_count(c.shape(0))});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  c.out(0).set_int(0, c.in(0).count());
  return {};
}

Result<void> lower(LowerContext& c) {
  const Dim count = ir::element_count(c.in_type(0).shape);
  const task::SlotId data = count.is_constant()
                                ? dims_as_data(c, {count})
                                : emit_product(c, dims_as_data(c, c.in_type(0).shape));
  c.set_out(0, c.reshape(data, {}));
  return {};
}

}  // namespace

extern constinit const ir::OpDef size = {
    .name = "size",
    .doc = "y = the number of elements of x",
    .inputs = {"x"},
    .outputs = {"y"},
    .onnx = {{"Size", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5,7]", "f32[2,0,4]", "f32[]", "f32[1,128,384]"},
};

}  // namespace tw::ops
