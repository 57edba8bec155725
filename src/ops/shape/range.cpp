// range: an arithmetic progression. Its length follows from shapes (Range(0, seq, 1)), from
// constants, or only from data.
#include <algorithm>
#include <cmath>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

enum Input : size_t {
  kStart,
  kLimit,
  kDelta
};

/// How many of start, start + delta, .. stand before limit; in double as ONNX computes it.
int64_t float_count(double start, double limit, double delta) {
  return static_cast<int64_t>(std::max(0.0, std::ceil((limit - start) / delta)));
}

Dim int_count(const Dim& start, const Dim& limit, int64_t delta) {
  const Dim distance = delta > 0 ? limit - start : start - limit;
  return at_least_zero(ceil_div(distance, delta > 0 ? delta : -delta));
}

/// The bounds as far as inference and lowering know them.
struct Known {
  const std::vector<Dim>* ints[3];
  const Tensor* constants[3];
};

/// The length, nothing when only data can tell.
Result<std::optional<Dim>> known_count(const Known& known, DType dtype) {
  const Error zero = error(Code::kInvalidModel, "'delta' is 0");
  if (is_float(dtype)) {
    for (const Tensor* constant : known.constants)
      if (constant == nullptr) return std::optional<Dim>();
    const double delta = known.constants[kDelta]->float_at(0);
    if (delta == 0) return zero;
    return std::optional<Dim>(float_count(known.constants[kStart]->float_at(0),
                                          known.constants[kLimit]->float_at(0), delta));
  }
  for (const std::vector<Dim>* ints : known.ints)
    if (ints == nullptr) return std::optional<Dim>();
  const auto delta = known.ints[kDelta]->front().known();
  if (!delta) return std::optional<Dim>();
  if (*delta == 0) return zero;
  return std::optional<Dim>(
      int_count(known.ints[kStart]->front(), known.ints[kLimit]->front(), *delta));
}

Result<void> infer(ir::InferContext& c) {
  const DType dtype = c.in(kStart).dtype;
  for (const size_t i : {kStart, kLimit, kDelta})
    if (c.in(i).dtype != dtype || !(ir::element_count(c.shape(i)) == Dim(1)))
      return error(Code::kInvalidModel, "input ", i, " is ", c.in(i), ", expected one element of ",
                   dtype);
  const Known known{{c.ints(kStart), c.ints(kLimit), c.ints(kDelta)},
                    {c.constant(kStart), c.constant(kLimit), c.constant(kDelta)}};
  const std::optional<Dim> count = TRY(known_count(known, dtype));
  const ir::Shape y = {count ? *count : c.fresh_symbol()};
  c.out(0, {dtype, y});
  if (count && !is_float(dtype) && small_dims(y)) {
    std::vector<Dim> elements;
    for (int64_t i = 0; i < count->constant(); ++i)
      elements.push_back(known.ints[kStart]->front() + Dim(i) * known.ints[kDelta]->front());
    c.out_ints(0, std::move(elements));
  }
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &start = c.in(kStart), &limit = c.in(kLimit), &delta = c.in(kDelta);
  const bool floats = is_float(start.dtype());
  if (delta.float_at(0) == 0) return error(Code::kInvalidArgument, "'delta' is 0");
  const int64_t count =
      floats ? float_count(start.float_at(0), limit.float_at(0), delta.float_at(0))
             : int_count(start.int_at(0), limit.int_at(0), delta.int_at(0)).constant();
  TRY(c.allocate(0, start.dtype(), {count}));
  for (int64_t i = 0; i < count; ++i) {
    if (floats)
      c.out(0).set_float(i, start.float_at(0) + static_cast<double>(i) * delta.float_at(0));
    else
      c.out(0).set_int(i, start.int_at(0) + i * delta.int_at(0));
  }
  return {};
}

/// The length at run time: i64[1].
task::SlotId count_from_data(LowerContext& c, DType dtype) {
  using task::PointOp;
  CodeWriter code(3);
  const uint8_t zero = code.literal(0);
  uint8_t count = 0;
  if (is_float(dtype)) {
    const uint8_t start = code.cast(kStart, dtype, DType::kF64),
                  limit = code.cast(kLimit, dtype, DType::kF64);
    const uint8_t delta = code.cast(kDelta, dtype, DType::kF64);
    const uint8_t distance = code.op(PointOp::kSub, DType::kF64, limit, start);
    const uint8_t quotient = code.op(PointOp::kDiv, DType::kF64, distance, delta);
    count = code.cast(code.op(PointOp::kCeil, DType::kF64, quotient), DType::kF64, DType::kI64);
  } else {
    // Division truncates; a quotient that is not positive gives no elements whichever way it is
    // rounded.
    const uint8_t distance = code.ints(PointOp::kSub, kLimit, kStart);
    const uint8_t rest = code.ints(PointOp::kSub, kDelta, code.ints(PointOp::kSign, kDelta));
    count = code.ints(PointOp::kDiv, code.ints(PointOp::kAdd, distance, rest), kDelta);
  }
  count = code.ints(PointOp::kMax, count, zero);
  const task::SlotId data = int_temp(c, 1);
  emit_program(c, code.finish({count}), {c.in(kStart), c.in(kLimit), c.in(kDelta)}, {data});
  return data;
}

Result<void> lower(LowerContext& c) {
  const DType dtype = c.out_type(0).dtype;
  const Known known{{c.in_ints(kStart), c.in_ints(kLimit), c.in_ints(kDelta)},
                    {c.in_constant(kStart), c.in_constant(kLimit), c.in_constant(kDelta)}};
  const std::optional<Dim> count = TRY(known_count(known, dtype));
  if (!count) TRY(bind_fresh(c, c.out_type(0).shape, count_from_data(c, dtype)));
  CodeWriter code(2);  // start, delta
  const uint8_t i = code.index(0);
  const uint8_t walked = code.op(task::PointOp::kMul, dtype,
                                 is_float(dtype) ? code.cast(i, DType::kI64, dtype) : i, 1);
  const uint8_t element = code.op(task::PointOp::kAdd, dtype, 0, walked);
  emit_program(c, code.finish({element}), {c.in(kStart), c.in(kDelta)}, {c.out(0)});
  return {};
}

}  // namespace

extern constinit const ir::OpDef range = {
    .name = "range",
    .doc = "y[i] = start + i * delta for as long as that is before limit",
    .inputs = {"start", "limit", "delta"},
    .outputs = {"y"},
    .onnx = {{"Range", 11}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"i64(0) i64(7) i64(1)", "i64(10) i64(-3) i64(-4)", "i32(5) i32(5) i32(1)",
              "f32(1) f32(2.5) f32(0.25)", "i64[]<5 i64[]<50 i64(3)", "f32[] f32(3) f32(0.5)",
              "f64(2) f64(-1) f64(-0.5)", "i64(3) i64(4) i64(1)", "i64(0) i64(2048) i64(1)"},
};

}  // namespace tw::ops
