// attention: softmax(scale * q k^T + mask) v for every head, with heads behind the length as
// projections leave them. Exporters write it as MatMul, Softmax and MatMul with transposes; a pass
// fuses those into this op.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_values.h"

namespace tw::ops {
namespace {

Result<void> check_mask(const ir::InferContext& c) {
  if (!c.has(3)) return {};
  const ir::Shape full{c.shape(0)[0], c.shape(0)[2], c.shape(0)[1], c.shape(1)[1]};
  if (c.in(3).dtype != DType::kF32)
    return error(Code::kInvalidModel, "input 'mask' is ", c.in(3).dtype, ", expected f32");
  bool fits = c.rank(3) == 4;
  for (size_t d = 0; fits && d < 4; ++d)
    fits = c.shape(3)[d] == Dim(1) || !surely_differ(c.shape(3)[d], full[d]);
  if (fits) return {};
  return error(Code::kInvalidModel, "input 'mask' has dims ", shape_text(c.shape(3)), ", expected ",
               shape_text(full), " or ones");
}

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  for (size_t i = 0; i < 3; ++i) {
    TRY(expect_same_type(c, 0, i));
    if (c.rank(i) != 4)
      return error(Code::kInvalidModel, "input '", input_name(c, i), "' has rank ", c.rank(i),
                   ", expected 4: batch, length, heads, size");
  }
  const ir::Shape &q = c.shape(0), &k = c.shape(1), &v = c.shape(2);
  TRY(expect_shape(c, 1, {q[0], k[1], k[2], q[3]}));
  TRY(expect_shape(c, 2, {q[0], k[1], k[2], v[3]}));
  const bool known = q[2].is_constant() && k[2].is_constant();
  if (!(q[2] == k[2]) && !known)
    return error(Code::kUnsupported, "'q' has ", q[2], " heads and 'k' ", k[2],
                 ", expected numbers");
  if (known && (k[2].constant() < 1 || q[2].constant() % k[2].constant() != 0))
    return error(Code::kInvalidModel, "'q' has ", q[2], " heads, expected a multiple of the ", k[2],
                 " of 'k'");
  TRY(check_mask(c));
  c.out(0, {c.in(0).dtype, {q[0], q[1], q[2], v[3]}});
  return {};
}

/// The sizes of one call, named.
struct Sizes {
  int64_t batch, n_queries, n_keys, heads, group, depth, v_depth;
};

/// Elements from the start of a mask of these dims to row (b, h, q), and the step from key to key.
struct MaskRow {
  int64_t offset = 0, step = 0;
};
MaskRow mask_row(const Dims& dims, int64_t b, int64_t h, int64_t q) {
  const int64_t at[3] = {b, h, q};
  int64_t offset = 0;
  for (size_t d = 0; d < 3; ++d) offset = offset * dims[d] + (dims[d] == 1 ? 0 : at[d]);
  return {offset * dims[3], dims[3] == 1 ? 0 : 1};
}

/// Exponentials of the scores against their largest, and their sum; keys at minus infinity are not
/// seen.
double exponentials(std::vector<double>& scores) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double score : scores) largest = std::max(largest, score);
  for (double& score : scores) sum += score = std::exp(score - largest);
  return sum;
}

Result<void> reference(ir::EvalContext& c) {
  const Dims &q_dims = c.in(0).dims(), &k_dims = c.in(1).dims();
  const Sizes n{q_dims[0],
                q_dims[1],
                k_dims[1],
                q_dims[2],
                q_dims[2] / std::max<int64_t>(1, k_dims[2]),
                q_dims[3],
                c.in(2).dims()[3]};
  const std::vector<double> q = to_doubles(c.in(0)), k = to_doubles(c.in(1)),
                            v = to_doubles(c.in(2));
  const std::vector<double> mask = c.has(3) ? to_doubles(c.in(3)) : std::vector<double>();
  const double scale = c.attr_float("scale");
  const bool causal = c.attr_int("causal") != 0;
  std::vector<double> y(static_cast<size_t>(c.out(0).count())),
      scores(static_cast<size_t>(n.n_keys));
  const int64_t kv_heads = n.heads / std::max<int64_t>(1, n.group);
  for (int64_t row = 0; row < n.batch * n.n_queries * n.heads; ++row) {
    const int64_t h = row % n.heads, query = row / n.heads % n.n_queries,
                  b = row / n.heads / n.n_queries;
    const MaskRow masked = mask.empty() ? MaskRow{} : mask_row(c.in(3).dims(), b, h, query);
    for (int64_t key = 0; key < n.n_keys; ++key) {
      const int64_t kv = (b * n.n_keys + key) * kv_heads + h / n.group;
      double dot = 0;
      for (int64_t i = 0; i < n.depth; ++i)
        dot += q[static_cast<size_t>(row * n.depth + i)] * k[static_cast<size_t>(kv * n.depth + i)];
      double score = scale * dot;
      if (!mask.empty()) score += mask[static_cast<size_t>(masked.offset + key * masked.step)];
      if (causal && key > query + n.n_keys - n.n_queries)
        score = -std::numeric_limits<double>::infinity();
      scores[static_cast<size_t>(key)] = score;
    }
    const double sum = exponentials(scores);
    double* const to = y.data() + row * n.v_depth;
    for (int64_t key = 0; key < n.n_keys; ++key) {
      const double weight = scores[static_cast<size_t>(key)] / sum;
      const double* const from =
          v.data() + ((b * n.n_keys + key) * kv_heads + h / n.group) * n.v_depth;
      for (int64_t i = 0; i < n.v_depth; ++i) to[i] += weight * from[i];
    }
  }
  from_doubles(y, c.out(0));
  return {};
}

/// 0, 1 .. length - 1.
ir::ValueId positions(Steps& s, ir::ValueId length) {
  return s.op("range", {s.scalar(DType::kI64, 0), length, s.scalar(DType::kI64, 1)});
}

/// Scores of keys that a causal query does not see become minus infinity.
ir::ValueId hide_later_keys(Steps& s, ir::ValueId scores, DType dtype, ir::ValueId q,
                            ir::ValueId k) {
  const auto length = [&](ir::ValueId x) {
    return s.squeeze(ShapeBuilder(s).add_dim_of(x, 1).build(), {0});
  };
  const ir::ValueId n_queries = length(q), n_keys = length(k);
  const ir::ValueId last_seen =
      s.op("add", {positions(s, n_queries), s.op("sub", {n_keys, n_queries})});
  const ir::ValueId seen =
      s.op("less_or_equal", {positions(s, n_keys), s.unsqueeze(last_seen, {1})});
  return s.op("where", {seen, scores, s.scalar(dtype, -std::numeric_limits<double>::infinity())});
}

/// Every head of x [batch, length, heads, size] `group` times.
ir::ValueId repeat_heads(Steps& s, ir::ValueId x, int64_t group) {
  if (group == 1) return x;
  const ir::ValueId repeated = s.op("expand", {s.unsqueeze(x, {3}), s.ints({1, 1, 1, group, 1})});
  return s.reshape(repeated, ShapeBuilder(s)
                                 .add_dim_of(x, 0)
                                 .add_dim_of(x, 1)
                                 .add_dim_of(x, 2, group)
                                 .add_dim_of(x, 3)
                                 .build());
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const DType dtype = c.type(0).dtype;
  const Dim heads = c.type(0).shape[2], kv_heads = c.type(1).shape[2];
  const int64_t group = heads == kv_heads ? 1 : heads.constant() / kv_heads.constant();
  const ir::ValueId q = s.transpose(c.in(0), {0, 2, 1, 3});                          // [b, h, q, d]
  const ir::ValueId k = s.transpose(repeat_heads(s, c.in(1), group), {0, 2, 3, 1});  // [b, h, d, k]
  const ir::ValueId v = s.transpose(repeat_heads(s, c.in(2), group), {0, 2, 1, 3});  // [b, h, k, d]
  ir::ValueId scores =
      s.op("mul", {s.op("matmul", {q, k}), s.scalar(dtype, c.attr_float("scale"))});
  const bool widens = c.has(3) && dtype != DType::kF32;  // masks are f32
  if (widens) scores = s.cast(scores, DType::kF32);
  if (c.has(3)) scores = s.op("add", {scores, c.in(3)});
  if (c.attr_int("causal") != 0)
    scores = hide_later_keys(s, scores, widens ? DType::kF32 : dtype, c.in(0), c.in(1));
  ir::ValueId weights = s.op("softmax", {scores}, {{"axis", int64_t{-1}}});
  if (widens) weights = s.cast(weights, dtype);
  c.set_out(0, s.transpose(s.op("matmul", {weights, v}), {0, 2, 1, 3}));
  return s.status();
}

Result<void> lower(LowerContext& c) {
  task::AttentionTask task;
  task.q = {c.in(0)};
  task.k = {c.in(1)};
  task.v = {c.in(2)};
  if (c.has(3)) task.mask = {c.in(3)};
  task.y = {c.out(0)};
  task.scale = static_cast<float>(c.attr_float("scale"));
  task.causal = c.attr_int("causal") != 0 ? 1 : 0;
  c.emit(task);
  return {};
}

/// ONNX's additive or boolean mask of rank 2 to 4 as f32 of rank 4.
ir::ValueId import_mask(Steps& s, ir::ValueId mask, ir::TensorType type) {
  if (type.dtype == DType::kBool) {
    const double hidden = -std::numeric_limits<double>::infinity();
    mask = s.op("where", {mask, s.scalar(DType::kF32, 0), s.scalar(DType::kF32, hidden)});
  } else if (type.dtype != DType::kF32) {
    mask = s.cast(mask, DType::kF32);
  }
  return type.shape.size() < 4 ? s.unsqueeze(mask, iota(4 - type.shape.size())) : mask;
}

/// An operand of rank 4 [b, heads, length, size] or 3 [b, length, heads * size] as [b, length,
/// heads, size].
ir::ValueId import_operand(Steps& s, ir::ValueId x, int64_t heads, Dim* size) {
  const ir::Shape shape = s.type(x).shape;
  *size = shape.back();
  if (shape.size() == 4) return s.transpose(x, {0, 2, 1, 3});
  if (!shape.back().is_constant() || heads < 1 || shape.back().constant() % heads != 0) {
    s.fail(error(Code::kInvalidModel, "rows of ", shape.back(), " elements do not divide among ",
                 heads, " heads"));
    return x;
  }
  *size = Dim(shape.back().constant() / heads);
  return s.reshape(
      x,
      ShapeBuilder(s).add_dim_of(x, 0).add_dim_of(x, 1).add(heads).add(size->constant()).build());
}

Result<void> check_importable(const ir::ImportContext& c) {
  for (size_t i = 4; i < c.n_inputs(); ++i)
    if (c.has(i))
      return error(Code::kUnsupported, "attention with past keys or lengths (input ", i, ")");
  for (size_t i = 0; i < 3; ++i) {
    if (!c.has(i)) return error(Code::kInvalidModel, "input ", i, " is missing");
    const size_t rank = c.value(i).type.shape.size();
    if (rank != 3 && rank != 4)
      return error(Code::kInvalidModel, "input ", i, " has rank ", rank, ", expected 3 or 4");
  }
  if (c.n_outputs() > 1) return error(Code::kUnsupported, "attention with more outputs than 'Y'");
  if (c.attr_float("softcap", 0) != 0)
    return error(Code::kUnsupported, "attribute 'softcap' is not 0");
  return {};
}

Result<void> import_attention(ir::ImportContext& c) {
  TRY(check_importable(c));
  Steps s(c.b());
  const bool causal = c.attr_int("is_causal", 0) != 0;
  const size_t rank = c.value(0).type.shape.size();
  const size_t length_axis = rank == 4 ? 2 : 1;
  // ONNX aligns the triangle at the first key, this op at the last; they agree on equal lengths.
  if (causal && !(c.value(0).type.shape[length_axis] == c.value(1).type.shape[length_axis]))
    return error(Code::kUnsupported, "causal attention of ", c.value(0).type.shape[length_axis],
                 " queries over ", c.value(1).type.shape[length_axis], " keys");
  const int64_t kv_heads = c.attr_int("kv_num_heads", 0);
  Dim depth, v_depth;
  const ir::ValueId q = import_operand(s, c.in(0), c.attr_int("q_num_heads", 0), &depth);
  const ir::ValueId k = import_operand(s, c.in(1), kv_heads, &v_depth);
  const ir::ValueId v = import_operand(s, c.in(2), kv_heads, &v_depth);
  TRY(s.status());
  if (!depth.is_constant())
    return error(Code::kUnsupported, "a head size of ", depth, ", expected a number");
  const double scale = c.attr_float("scale", 1 / std::sqrt(static_cast<double>(depth.constant())));
  std::vector<ir::ValueId> inputs{q, k, v};
  if (c.has(3)) inputs.push_back(import_mask(s, c.in(3), c.value(3).type));
  const ir::ValueId y = s.op("attention", inputs, {{"scale", scale}, {"causal", int64_t{causal}}});
  TRY(s.status());
  c.attrs().clear();
  if (rank == 4) {
    c.set_out(0, s.transpose(y, {0, 2, 1, 3}));
    return s.status();
  }
  const int64_t row = s.type(y).shape[2].constant() * v_depth.constant();
  c.set_out(0, s.reshape(y, ShapeBuilder(s).add_dim_of(y, 0).add_dim_of(y, 1).add(row).build()));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef attention = {
    .name = "attention",
    .doc =
        "y[b, q, h, :] = softmax over k of (scale * q[b, q, h, :] . k[b, k, h / group, :] + "
        "mask[b, h, q, k]) times v",
    .inputs = {"q", "k", "v", "mask?"},
    .outputs = {"y"},
    .attrs = {{"causal", 0}, {"scale", 1.0}},
    .onnx = {{"Attention", 23, import_attention}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .lower = lower,
    .cases = {"f32[2,5,3,7] f32[2,5,3,7] f32[2,5,3,7] ; scale=0.378",
              "f32[1,4,2,8] f32[1,9,2,8] f32[1,9,2,5] f32[1,1,1,9] ; scale=0.35",
              "f32[2,5,4,8] f32[2,7,2,8] f32[2,7,2,8] f32[2,4,5,7] ; scale=0.35",
              "f32[1,3,2,4] f32[1,6,2,4] f32[1,6,2,4] ; causal=1",
              "f32[1,1,1,1] f32[1,1,1,1] f32[1,1,1,1]", "f32[0,4,2,8] f32[0,4,2,8] f32[0,4,2,8]",
              "f16[1,9,2,16] f16[1,9,2,16] f16[1,9,2,16] ; scale=0.25",
              "f32[1,64,12,32] f32[1,64,12,32] f32[1,64,12,32] f32[1,1,1,64] ; scale=0.17677669"},
};

}  // namespace tw::ops
