// gather_nd: the last dim of the index holds coordinates, behind batch_dims dims that both inputs
// share.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const ir::Shape &x = c.shape(0), &index = c.shape(1);
  const int64_t n_batch = c.attr_int("batch_dims");
  if (c.in(1).dtype != DType::kI64 && c.in(1).dtype != DType::kI32)
    return error(Code::kInvalidModel, "'index' is ", c.in(1).dtype, ", expected i64");
  if (x.empty() || index.empty())
    return error(Code::kInvalidModel, "'x' or 'index' has rank 0, expected at least 1");
  const auto depth = index.back().known();
  if (!depth)
    return error(Code::kUnsupported, "the last dim of 'index' is ", index.back(),
                 ", expected a number");
  if (n_batch < 0 || n_batch >= c.rank(1) || *depth < 1 || n_batch + *depth > c.rank(0))
    return error(Code::kInvalidModel, "'index' ", dims_text(index), " with ", n_batch,
                 " batch dims does not fit 'x' ", dims_text(x));
  ir::Shape y(index.begin(), index.end() - 1);
  for (size_t d = 0; d < static_cast<size_t>(n_batch); ++d)
    y[d] = TRY(same_dim(x[d], index[d], cat("batch dim ", d, " of 'index'")));
  y.insert(y.end(), x.begin() + n_batch + *depth, x.end());
  c.out(0, {c.in(0).dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor &x = c.in(0), &index = c.in(1);
  const auto n_batch = static_cast<size_t>(c.attr_int("batch_dims"));
  const auto depth = static_cast<size_t>(index.dims().back());
  const StridedView from = whole_view(x.dims());
  int64_t n_inner = 1;
  for (size_t d = n_batch + depth; d < x.dims().size(); ++d) n_inner *= x.dims()[d];
  Dims places = index.dims();
  places.resize(places.size() - 1);
  Result<void> status;
  for_each_coordinate(places, [&](const Dims& at, int64_t i) {
    int64_t element = 0;
    for (size_t d = 0; d < n_batch; ++d) element += at[d] * from.strides[d];
    for (size_t k = 0; k < depth; ++k) {
      const size_t d = n_batch + k;
      const auto taken =
          wrapped_index(index.int_at(i * static_cast<int64_t>(depth) + static_cast<int64_t>(k)),
                        x.dims()[d], "'index'");
      if (!taken.ok()) {
        status = taken.error();
        return;
      }
      element += taken.value() * from.strides[d];
    }
    copy_elements(x, element, c.out(0), i * n_inner, n_inner);
  });
  return status;
}

Result<void> lower(LowerContext& c) {
  c.emit(task::GatherTask{.x = {c.in(0)},
                          .index = {c.in(1)},
                          .y = {c.out(0)},
                          .kind = task::GatherTask::Kind::kNd,
                          .batch_dims = static_cast<int8_t>(c.attr_int("batch_dims"))});
  return {};
}

}  // namespace

extern constinit const ir::OpDef gather_nd = {
    .name = "gather_nd",
    .doc =
        "y[b.., i.., k..] = x[b.., index[b.., i.., :].., k..], b.. being the first batch_dims dims",
    .inputs = {"x", "index"},
    .outputs = {"y"},
    .attrs = {{"batch_dims", 0}},
    .onnx = {{"GatherND", 11}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5,7] i64[4,2]<3", "f32[3,5,7] i64[2,3,1]<3",
              "f32[3,5,7] i64[3,2,1]<5 ; batch_dims=1", "f32[4,4] i64[0,2]", "i64[7] i64[1]<7",
              "f32[2,3,4,5] i64[2,3,2]<4 ; batch_dims=2", "f16[9,1] i64[5,2]<1",
              "f32[1,300,256] i64[100,2]<1"},
};

}  // namespace tw::ops
