// transpose: permutes dims. Where only dims of size 1 change places the elements stay where they
// are.
#include <numeric>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

/// Attribute perm; without it the dims in reverse.
std::vector<int64_t> permutation_of(const ir::NodeView& node, size_t rank) {
  std::vector<int64_t> permutation = node.attr_ints("perm");
  if (!node.has_attr("perm")) {
    permutation.resize(rank);
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  for (int64_t& d : permutation) d += d < 0 ? static_cast<int64_t>(rank) : 0;
  return permutation;
}

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  const std::vector<int64_t> permutation = permutation_of(c, x.size());
  if (permutation.size() != x.size())
    return error(Code::kInvalidModel, "attribute 'perm' has ", permutation.size(),
                 " axes, expected ", x.size());
  const std::vector<size_t> axes = TRY(distinct_axes(permutation, x.size(), "attribute 'perm'"));
  ir::Shape y;
  for (const size_t d : axes) y.push_back(x[d]);
  c.out(0, {c.in(0).dtype, y});
  move_known(c, 0, y, [&](const Dims& from) { return permuted(whole_view(from), permutation); });
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const auto permutation = permutation_of(c, c.in(0).dims().size());
  copy_view(c.in(0), permuted(whole_view(c.in(0).dims()), permutation), c.out(0));
  return {};
}

Result<void> lower(LowerContext& c) {
  const ir::Shape& x = c.in_type(0).shape;
  const std::vector<int64_t> permutation = permutation_of(c, x.size());
  int64_t last = -1;
  bool in_order = true;
  for (const int64_t d : permutation) {
    if (x[static_cast<size_t>(d)] == Dim(1)) continue;
    in_order = in_order && d > last;
    last = d;
  }
  if (in_order)
    c.set_out(0, c.reshape(c.in(0), c.out_type(0).shape));
  else
    emit_copy(c, c.permute(c.in(0), permutation), c.out(0));
  return {};
}

}  // namespace

extern constinit const ir::OpDef transpose = {
    .name = "transpose",
    .doc = "dim d of y is dim perm[d] of x (without perm: the dims in reverse)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"perm", {}}},
    .onnx = {{"Transpose", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5,7]", "f32[3,5,7] ; perm=[1,0,2]", "f32[2,0,3] ; perm=[2,1,0]",
              "f32[1,5,1,7] ; perm=[2,1,0,3]", "f32[]", "bool[33,17]",
              "f16[2,3,4,5,6] ; perm=[4,2,0,1,3]", "f32[1,128,12,32] ; perm=[0,2,1,3]",
              "f32[1,12,128,32] ; perm=[0,1,3,2]"},
};

}  // namespace tw::ops
