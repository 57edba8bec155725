// constant_of_shape: one value everywhere. ONNX's tensor attribute becomes a 0-d constant input.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  if (c.rank(0) != 1)
    return error(Code::kInvalidModel, "'shape' has rank ", c.rank(0), ", expected 1");
  if (c.has(1) && c.rank(1) != 0)
    return error(Code::kInvalidModel, "'value' is ", c.in(1), ", expected a 0-d tensor");
  ir::Shape y;
  if (const auto target = known_elements(c, 0)) {
    for (const Dim& dim : *target)
      if (dim.is_constant() && dim.constant() < 0)
        return error(Code::kInvalidModel, "'shape' holds ", dim, ", expected 0 or more");
    y = *target;
  } else {
    const auto rank = c.shape(0)[0].known();
    if (!rank)
      return error(Code::kUnsupported, "the length of 'shape' is ", c.shape(0)[0],
                   ", expected a number");
    for (int64_t d = 0; d < *rank; ++d) y.push_back(c.fresh_symbol());
  }
  const DType dtype = c.has(1) ? c.in(1).dtype : DType::kF32;
  const auto value = known_elements(c, 1);
  const auto dims = small_dims(y);
  if (value && dims)
    c.out_ints(0, std::vector<Dim>(static_cast<size_t>(element_count(*dims)), value->front()));
  c.out(0, {dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  Dims dims;
  for (int64_t k = 0; k < c.in(0).count(); ++k) dims.push_back(c.in(0).int_at(k));
  TRY(c.allocate(0, c.has(1) ? c.in(1).dtype() : DType::kF32, dims));
  for (int64_t i = 0; c.has(1) && i < c.out(0).count(); ++i) copy_elements(c.in(1), 0, c.out(0), i);
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& y = c.out_type(0).shape;
  if (c.in_ints(0) == nullptr) TRY(bind_fresh(c, y, c.in(0)));
  if (c.has(1) && c.in_constant(1) == nullptr)
    emit_copy(c, c.broadcast(c.in(1), y), c.out(0));
  else
    emit_fill(c, c.has(1) ? *c.in_constant(1) : TRY(Tensor::try_make(DType::kF32, {})), c.out(0));
  return {};
}

Result<void> import_value(ir::ImportContext& c) {
  std::vector<ir::ValueId> inputs = {c.in(0)};
  if (const auto found = c.attrs().find("value"); found != c.attrs().end()) {
    const Tensor* value = std::get_if<Tensor>(&found->second);
    if (value == nullptr || value->count() != 1)
      return error(Code::kInvalidModel, "attribute 'value' is ",
                   value == nullptr ? "no tensor" : value->type_text(),
                   ", expected a tensor of one element");
    inputs.push_back(c.b().constant(value->reshaped({})));
    c.attrs().erase("value");
  }
  c.set_out(0, TRY(c.b().op("constant_of_shape", inputs)));
  return {};
}

}  // namespace

extern constinit const ir::OpDef constant_of_shape = {
    .name = "constant_of_shape",
    .doc = "y has the dims in shape and holds value (without one: 0 as f32) everywhere",
    .inputs = {"shape", "value?"},
    .outputs = {"y"},
    .onnx = {{"ConstantOfShape", 9, import_value}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"i64{3,5}", "i64{2,3} i64(-7)", "i64{} f64(2.5)", "i64{2,0,3} bool(1)",
              "i64[2]<6 i32(9)", "i64{1,33} f16[]", "i64{1,128,384} f32(1)"},
};

}  // namespace tw::ops
