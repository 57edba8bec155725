// space_to_depth: blocks of pixels become blocks of channels; one copy between two windows of
// rank 6.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

constexpr int64_t kMaxBlock = 1024;  // its square times a size is far from overflow

/// x as [n, c, h, b, w, b] in the order [n, b, b, c, h, w].
std::vector<int64_t> order() { return {0, 3, 5, 1, 2, 4}; }

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const int64_t block = c.attr_int("blocksize");
  if (x.size() != 4) return error(Code::kInvalidModel, "'x' has rank ", x.size(), ", expected 4");
  if (block < 1 || block > kMaxBlock)
    return error(Code::kInvalidModel, "attribute 'blocksize' is ", block, ", expected 1 to ",
                 kMaxBlock);
  for (const size_t d : {2U, 3U})
    if (x[d].is_constant() && x[d].constant() % block != 0)
      return error(Code::kInvalidModel, "dim ", d, " of 'x' is ", x[d], ", expected a multiple of ",
                   block);
  c.out(0, {c.in(0).dtype,
            {x[0], x[1] * Dim(block * block), floor_div(x[2], block), floor_div(x[3], block)}});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Dims &x = c.in(0).dims(), &y = c.out(0).dims();
  const int64_t block = c.attr_int("blocksize");
  const Dims parts = {x[0], x[1], y[2], block, y[3], block};
  copy_view(c.in(0), permuted(whole_view(parts), order()), c.out(0));
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape &x = c.in_type(0).shape, &y = c.out_type(0).shape;
  const int64_t block = c.attr_int("blocksize");
  const ir::Shape parts = {x[0], x[1], y[2], block, y[3], block};
  const task::SlotId from = c.permute(c.reshape(c.in(0), parts), order());
  const ir::Shape to = c.dims(from);
  emit_copy(c, from, c.reshape(c.out(0), to));
  return {};
}

}  // namespace

extern constinit const ir::OpDef space_to_depth = {
    .name = "space_to_depth",
    .doc = "y[n, (i * b + j) * channels + c, h, w] = x[n, c, h * b + i, w * b + j]",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"blocksize", 1}},
    .onnx = {{"SpaceToDepth", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[1,2,4,6] ; blocksize=2", "f32[2,1,9,3] ; blocksize=3",
              "f32[1,4,0,2] ; blocksize=2", "bool[1,3,5,7] ; blocksize=1",
              "f32[1,3,224,224] ; blocksize=4"},
};

}  // namespace tw::ops
