// scatter_nd: x with elements or whole slices replaced or combined; the last dim of the index holds
// coordinates.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_move.h"
#include "ops/shape/common_scatter.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const ir::Shape &x = c.shape(0), &index = c.shape(1), &updates = c.shape(2);
  TRY(combine_of(c));
  if (c.in(1).dtype != DType::kI64 && c.in(1).dtype != DType::kI32)
    return error(Code::kInvalidModel, "'index' is ", c.in(1).dtype, ", expected i64");
  if (c.in(2).dtype != c.in(0).dtype)
    return error(Code::kInvalidModel, "'updates' is ", c.in(2).dtype, ", expected ", c.in(0).dtype,
                 " as 'x'");
  if (index.empty()) return error(Code::kInvalidModel, "'index' has rank 0, expected at least 1");
  const auto depth = index.back().known();
  if (!depth)
    return error(Code::kUnsupported, "the last dim of 'index' is ", index.back(),
                 ", expected a number");
  if (*depth < 0 || *depth > c.rank(0))
    return error(Code::kInvalidModel, "the last dim of 'index' is ", *depth,
                 ", expected at most the rank of 'x', ", c.rank(0));
  ir::Shape expected(index.begin(), index.end() - 1);
  expected.insert(expected.end(), x.begin() + *depth, x.end());
  if (updates.size() != expected.size())
    return error(Code::kInvalidModel, "'updates' is ", dims_text(updates), ", expected ",
                 dims_text(expected));
  for (size_t d = 0; d < expected.size(); ++d)
    TRY(same_dim(expected[d], updates[d], cat("dim ", d, " of 'updates'")));
  c.out(0, c.in(0));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const int64_t depth = index.dims().back();
  const StridedView to = whole_view(x.dims());
  Dims places = index.dims();
  places.resize(places.size() - 1);
  int64_t n_inner = 1;
  for (size_t d = static_cast<size_t>(depth); d < x.dims().size(); ++d) n_inner *= x.dims()[d];
  ScatterReference y(x, TRY(combine_of(c)));
  for (int64_t i = 0; i < element_count(places); ++i) {
    int64_t element = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const auto d = static_cast<size_t>(k);
      element +=
          TRY(wrapped_index(index.int_at(i * depth + k), x.dims()[d], "'index'")) * to.strides[d];
    }
    for (int64_t k = 0; k < n_inner; ++k) y.put(element + k, c.in(2), i * n_inner + k);
  }
  y.store(c.out(0));
  return {};
}

Result<void> lower(LowerContext& c) {
  task::ScatterTask task;
  task.kind = task::ScatterTask::Kind::kNd;
  task.combine = TRY(combine_of(c));
  emit_scatter(c, task);
  return {};
}

}  // namespace

extern constinit const ir::OpDef scatter_nd = {
    .name = "scatter_nd",
    .doc = "y = x, then y[index[i.., :].., k..] = updates[i.., k..] (or combined by reduction)",
    .inputs = {"x", "index", "updates"},
    .outputs = {"y"},
    .attrs = {{"reduction", "none"}},
    .onnx = {{"ScatterND", 11}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[7,5] i64{3,-1} f32[]", "f32[7,5] i64[3,1]<7 f32[3,5]",
              "f32[3,5,7] i64[2,2,3]<3 f32[2,2] ; reduction=\"add\"",
              "i64[9] i64[4,1]<9 i64[4] ; reduction=\"mul\"", "f32[4,3] i64[0,1] f32[0,3]",
              "i32[5] i64[7,1]<5 i32[7] ; reduction=\"max\"",
              "f32[1] i64[2,1]<1 f32[2] ; reduction=\"min\"",
              "f32[1,128,384] i64[64,2]<1 f32[64,384]"},
};

}  // namespace tw::ops
