// shape: the dims of a tensor as data. Nearly always only inference uses them; where a task reads
// them as data (or the graph returns them), symbolic dims are counted at run time.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_lower.h"

namespace tw::ops {
namespace {

struct Interval {
  int64_t start, end;
};

/// The dims that attributes start and end select, clamped to the rank.
Interval selected(const ir::NodeView& node, int64_t rank) {
  const auto clamped = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = clamped(node.attr_int("start"));
  const int64_t end = node.has_attr("end") ? clamped(node.attr_int("end")) : rank;
  return {start, std::max(start, end)};
}

std::vector<Dim> selected_dims(const ir::NodeView& node, const ir::Shape& x) {
  const Interval interval = selected(node, static_cast<int64_t>(x.size()));
  return {x.begin() + interval.start, x.begin() + interval.end};
}

Result<void> infer(ir::InferContext& c) {
  std::vector<Dim> dims = selected_dims(c, c.shape(0));
  c.out(0, {DType::kI64, {static_cast<int64_t>(dims.size())}});
  c.out_ints(0, std::move(dims));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Interval interval = selected(c, c.in(0).rank());
  for (int64_t d = interval.start; d < interval.end; ++d)
    c.out(0).set_int(d - interval.start, c.in(0).dims()[static_cast<size_t>(d)]);
  return {};
}

Result<void> lower(LowerContext& c) {
  c.set_out(0, dims_as_data(c, selected_dims(c, c.in_type(0).shape)));
  return {};
}

}  // namespace

extern constinit const ir::OpDef shape = {
    .name = "shape",
    .doc = "y = the dims of x from start to end",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"start", 0}, {"end", {}}},
    .onnx = {{"Shape", 1}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5,7]", "f32[2,0,4] ; start=1", "f32[]", "f32[3,5,7] ; start=-2 end=-1",
              "f32[3,5] ; start=2 end=1", "f32[1,128,384] ; end=9"},
};

}  // namespace tw::ops
