// unsqueeze: adds dims of size 1.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_axes.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const auto values = c.constant_ints(1);
  if (!values) return error(Code::kUnsupported, "'axes' follows from data, expected a constant");
  const size_t rank = c.shape(0).size() + values->size();
  const std::vector<size_t> axes = TRY(distinct_axes(*values, rank, "'axes'"));
  ir::Shape y;
  auto next = c.shape(0).begin();
  for (size_t d = 0; d < rank; ++d)
    y.push_back(std::find(axes.begin(), axes.end(), d) != axes.end() ? Dim(1) : *next++);
  c.out(0, {c.in(0).dtype, std::move(y)});
  keep_known(c);
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  c.set_out(0, c.in(0).reshaped(c.out(0).dims()));
  return {};
}

Result<void> lower(LowerContext& c) {
  c.set_out(0, c.reshape(c.in(0), c.out_type(0).shape));
  return {};
}

/// Up to opset 12 the axes are an attribute.
Result<void> import_axes_attr(ir::ImportContext& c) {
  const ir::ValueId axes = c.b().ints(c.attr_ints("axes"));
  c.set_out(0, TRY(c.b().op("unsqueeze", {c.in(0), axes})));
  c.attrs().erase("axes");
  return {};
}

}  // namespace

extern constinit const ir::OpDef unsqueeze = {
    .name = "unsqueeze",
    .doc = "y = x with dims of size 1 at axes, which count in y",
    .inputs = {"x", "axes"},
    .outputs = {"y"},
    .onnx = {{"Unsqueeze", 1, import_axes_attr}, {"Unsqueeze", 13}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] i64{0,-1}", "f32[] i64{0}", "f32[0] i64{1}", "i64[5] i64{2,0}",
              "i64[1,128] i64{1,2}"},
};

}  // namespace tw::ops
