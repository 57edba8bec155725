// trilu: the upper or lower triangle of the last two dims; the rest becomes 0. Causal masks are
// made with it.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  if (c.rank(0) < 2)
    return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected at least 2");
  if (c.has(1) && !(ir::element_count(c.shape(1)) == Dim(1)))
    return error(Code::kInvalidModel, "'k' is ", c.in(1), ", expected one element");
  c.out(0, c.in(0));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  const int64_t k = c.has(1) ? c.in(1).int_at(0) : 0;
  const bool upper = c.attr_int("upper") != 0;
  const size_t row = x.dims().size() - 2;
  for_each_coordinate(x.dims(), [&](const Dims& at, int64_t i) {
    const int64_t diagonal = at[row + 1] - at[row];
    if (upper ? diagonal >= k : diagonal <= k) copy_elements(x, i, c.out(0), i);
  });
  return {};
}

Result<void> lower(LowerContext& c) {
  using task::PointOp;
  const DType dtype = c.in_type(0).dtype;
  const size_t row = c.in_type(0).shape.size() - 2;
  const std::vector<Dim>* known = c.has(1) ? c.in_ints(1) : nullptr;
  const bool literal = !c.has(1) || (known != nullptr && known->front().is_constant());
  CodeWriter code(literal ? 1 : 2);  // x, k
  const uint8_t k = literal ? code.literal(c.has(1) ? known->front().constant() : 0) : uint8_t{1};
  const uint8_t diagonal = code.ints(PointOp::kSub, code.index(row + 1), code.index(row));
  const uint8_t kept = code.ints(
      c.attr_int("upper") != 0 ? PointOp::kGreaterEqual : PointOp::kLessEqual, diagonal, k);
  const Tensor zero = TRY(Tensor::try_make(dtype, {}));
  const uint8_t element = code.op(PointOp::kWhere, dtype, kept, 0, code.literal(zero));
  const task::PointProgram program = code.finish({element});
  if (literal)
    emit_program(c, program, {c.in(0)}, {c.out(0)});
  else
    emit_program(c, program, {c.in(0), c.reshape(c.in(1), {})}, {c.out(0)});
  return {};
}

}  // namespace

extern constinit const ir::OpDef trilu = {
    .name = "trilu",
    .doc = "y[.., i, j] = x[.., i, j] where j - i >= k (upper) or j - i <= k (lower), else 0",
    .inputs = {"x", "k?"},
    .outputs = {"y"},
    .attrs = {{"upper", 1}},
    .onnx = {{"Trilu", 14}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[5,7]", "f32[2,7,5] i64(-2) ; upper=0", "i64[3,3] i64(1)", "f32[0,4] ; upper=0",
              "bool[2,1,9] i64[]<5", "f16[33,17] i64{20}", "f32[1,1,512,512] i64(1)"},
};

}  // namespace tw::ops
