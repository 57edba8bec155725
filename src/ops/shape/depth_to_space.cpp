// depth_to_space: blocks of channels become blocks of pixels (pixel shuffle); one copy between two
// windows of rank 6.
#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

constexpr int64_t kMaxBlock = 1024;  // its square times a size is far from overflow

bool depth_first(const ir::NodeView& node) { return node.attr_string("mode") == "DCR"; }

/// x [n, c, h, w] as the channel's parts, and the order in which y [n, c', h, b, w, b] takes them.
template <class Shape>
Shape split_channels(const ir::NodeView& node, const Shape& x, const auto& channels) {
  const int64_t block = node.attr_int("blocksize");
  if (depth_first(node)) return {x[0], block, block, channels, x[2], x[3]};
  return {x[0], channels, block, block, x[2], x[3]};
}
std::vector<int64_t> order(const ir::NodeView& node) {
  if (depth_first(node)) return {0, 3, 4, 1, 5, 2};
  return {0, 1, 4, 2, 5, 3};
}

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const int64_t block = c.attr_int("blocksize");
  const std::string mode = c.attr_string("mode");
  if (x.size() != 4) return error(Code::kInvalidModel, "'x' has rank ", x.size(), ", expected 4");
  if (block < 1 || block > kMaxBlock)
    return error(Code::kInvalidModel, "attribute 'blocksize' is ", block, ", expected 1 to ",
                 kMaxBlock);
  if (mode != "DCR" && mode != "CRD")
    return error(Code::kInvalidModel, "attribute 'mode' is '", mode, "', expected 'DCR' or 'CRD'");
  const Dim channels = floor_div(x[1], block * block);
  if (x[1].is_constant() && !(channels * Dim(block * block) == x[1]))
    return error(Code::kInvalidModel, "'x' has ", x[1], " channels, expected a multiple of ",
                 block * block);
  c.out(0, {c.in(0).dtype, {x[0], channels, x[2] * Dim(block), x[3] * Dim(block)}});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Dims parts = split_channels(c, c.in(0).dims(), c.out(0).dims()[1]);
  copy_view(c.in(0), permuted(whole_view(parts), order(c)), c.out(0));
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape parts = split_channels(c, c.in_type(0).shape, c.out_type(0).shape[1]);
  const task::SlotId from = c.permute(c.reshape(c.in(0), parts), order(c));
  const ir::Shape to = c.dims(from);
  emit_copy(c, from, c.reshape(c.out(0), to));
  return {};
}

}  // namespace

extern constinit const ir::OpDef depth_to_space = {
    .name = "depth_to_space",
    .doc =
        "y[n, c, h * b + i, w * b + j] = x[n, .., h, w] at channel (i * b + j) * c' + c (DCR) or "
        "(c * b + i) * b + j (CRD)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"blocksize", 1}, {"mode", "DCR"}},
    .onnx = {{"DepthToSpace", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[1,8,2,3] ; blocksize=2", "f32[2,9,3,1] ; blocksize=3 mode=\"CRD\"",
              "f32[1,4,0,5] ; blocksize=2", "i64[1,3,5,7] ; blocksize=1",
              "f32[1,64,40,40] ; blocksize=2 mode=\"CRD\""},
};

}  // namespace tw::ops
