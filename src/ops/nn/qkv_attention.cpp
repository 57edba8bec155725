// qkv_attention: attention over the result of one product that holds queries, keys and values side
// by side. A pass makes it of attention whose three operands come from one input.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

/// Heads of queries, and of keys and values each; elements a head.
struct Heads {
  int64_t n = 0, n_kv = 0, size = 0;
  int64_t width() const { return (n + 2 * n_kv) * size; }
};

Heads heads_of(const ir::NodeView& c) {
  return {c.attr_int("heads"), c.attr_int("kv_heads"), c.attr_int("head_size")};
}

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  const Heads heads = heads_of(c);
  if (heads.n < 1 || heads.n_kv < 1 || heads.size < 1 || heads.n % heads.n_kv != 0)
    return error(Code::kInvalidModel, heads.n, " heads on ", heads.n_kv, " of size ", heads.size);
  if (c.rank(0) != 3 || surely_differ(c.shape(0)[2], Dim(heads.width())))
    return error(Code::kInvalidModel, "input 'qkv' has dims ", shape_text(c.shape(0)),
                 ", expected rank 3 and ", heads.width(), " columns");
  if (c.has(1) && (c.in(1).dtype != DType::kF32 || c.rank(1) != 4))
    return error(Code::kInvalidModel, "input 'mask' is ", c.in(1).dtype, " of rank ", c.rank(1),
                 ", expected f32 of rank 4");
  c.out(0, {c.in(0).dtype, {c.shape(0)[0], c.shape(0)[1], Dim(heads.n), Dim(heads.size)}});
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const Heads heads = heads_of(c);
  int64_t start = 0;
  const auto part = [&](int64_t n) {
    const ir::ValueId columns =
        s.op("slice", {c.in(0), s.ints({start}), s.ints({start + n * heads.size}), s.ints({2})});
    start += n * heads.size;
    return s.reshape(columns, ShapeBuilder(s)
                                  .add_dim_of(c.in(0), 0)
                                  .add_dim_of(c.in(0), 1)
                                  .add(n)
                                  .add(heads.size)
                                  .build());
  };
  const ir::ValueId q = part(heads.n), k = part(heads.n_kv), v = part(heads.n_kv);
  std::vector<ir::ValueId> inputs{q, k, v};
  if (c.has(1)) inputs.push_back(c.in(1));
  c.set_out(0, s.op("attention", inputs,
                    {{"scale", c.attr_float("scale")}, {"causal", c.attr_int("causal")}}));
  return s.status();
}

Result<void> lower(LowerContext& c) {
  const Heads heads = heads_of(c);
  const ir::Shape& qkv = c.in_type(0).shape;
  const task::SlotId x = c.in(0);
  const std::vector<Dim> strides = c.strides(x);
  int64_t start = 0;
  const auto part = [&](int64_t n) {
    const task::SlotId window =
        c.view(x, {qkv[0], qkv[1], Dim(n), Dim(heads.size)},
               {strides[0], strides[1], Dim(heads.size), Dim(1)}, c.offset(x) + Dim(start));
    start += n * heads.size;
    return window;
  };
  task::AttentionTask task;
  task.q = {part(heads.n)};
  task.k = {part(heads.n_kv)};
  task.v = {part(heads.n_kv)};
  if (c.has(1)) task.mask = {c.in(1)};
  task.y = {c.out(0)};
  task.scale = static_cast<float>(c.attr_float("scale"));
  task.causal = c.attr_int("causal") != 0 ? 1 : 0;
  c.emit(task);
  return {};
}

}  // namespace

extern constinit const ir::OpDef qkv_attention = {
    .name = "qkv_attention",
    .doc = "attention of the queries, keys and values that lie side by side in each row of qkv",
    .inputs = {"qkv", "mask?"},
    .outputs = {"y"},
    .attrs = {{"causal", 0}, {"head_size", 1}, {"heads", 1}, {"kv_heads", 1}, {"scale", 1.0}},
    .onnx = {},
    .infer = infer,
    .decompose = decompose,
    .lower = lower,
    .cases = {"f32[2,5,63] ; heads=3 kv_heads=3 head_size=7 scale=0.378",
              "f32[1,4,64] f32[1,1,1,4] ; heads=4 kv_heads=2 head_size=8 scale=0.35",
              "f32[1,6,24] ; heads=2 kv_heads=2 head_size=4 causal=1", "f32[1,1,3]",
              "f32[0,4,48] ; heads=2 kv_heads=2 head_size=8",
              "f16[1,9,96] ; heads=2 kv_heads=2 head_size=16 scale=0.25",
              "f32[1,64,1152] f32[1,1,1,64] ; heads=12 kv_heads=12 head_size=32 scale=0.17677669"},
};

}  // namespace tw::ops
