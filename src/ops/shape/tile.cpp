// tile: repeats a tensor along its axes. A repeated axis becomes two dims, of which the outer has
// stride 0.
#include <algorithm>

#include "ir/op_def.h"
#include "ops/lower.h"
#include "ops/shape/common_dims.h"
#include "ops/shape/common_lower.h"
#include "ops/shape/common_move.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const ir::Shape& x = c.shape(0);
  std::vector<Dim> repeats;
  const auto known = known_elements(c, 1);
  if (known) repeats = *known;
  // y's dims are multiples of x's: the symbol stands for the number of repeats.
  else
    for (size_t d = 0; d < x.size(); ++d) repeats.push_back(c.fresh_symbol());
  if (repeats.size() != x.size())
    return error(Code::kInvalidModel, "'repeats' has ", repeats.size(), " elements, expected ",
                 x.size(), " as the rank of 'x'");
  ir::Shape y;
  for (size_t d = 0; d < x.size(); ++d) {
    if (repeats[d].is_constant() && repeats[d].constant() < 0)
      return error(Code::kInvalidModel, "'repeats' holds ", repeats[d], ", expected 0 or more");
    y.push_back(x[d] * repeats[d]);
  }
  const auto elements = known_elements(c, 0);
  const auto from = ir::concrete(x), to = small_dims(y);
  if (elements && from && to && from->size() == 1) {
    std::vector<Dim> tiled;
    for (int64_t i = 0; i < (*to)[0]; ++i)
      tiled.push_back((*elements)[static_cast<size_t>(i % (*from)[0])]);
    c.out_ints(0, std::move(tiled));
  }
  c.out(0, {c.in(0).dtype, std::move(y)});
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Tensor& x = c.in(0);
  Dims y = x.dims();
  for (size_t d = 0; d < y.size(); ++d) y[d] *= c.in(1).int_at(static_cast<int64_t>(d));
  TRY(c.allocate(0, x.dtype(), y));
  const StridedView from = whole_view(x.dims());
  for_each_coordinate(y, [&](const Dims& at, int64_t i) {
    int64_t element = 0;
    for (size_t d = 0; d < at.size(); ++d) element += at[d] % from.dims[d] * from.strides[d];
    copy_elements(x, element, c.out(0), i);
  });
  return {};
}

/// One copy that repeats as many axes as kMaxRank leaves room for; `repeats` of those become 1.
task::SlotId tile_some(LowerContext& c, task::SlotId x, std::vector<Dim>& repeats) {
  const ir::Shape from = c.dims(x);
  const std::vector<Dim> from_strides = c.strides(x);
  ir::Shape split, whole = from;
  std::vector<Dim> strides;
  size_t room = kMaxRank - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (!(repeats[d] == Dim(1)) && (room > 0 || from[d] == Dim(1))) {
      split.push_back(repeats[d]);
      strides.emplace_back(0);
      whole[d] = from[d] * repeats[d];
      repeats[d] = Dim(1);
      if (from[d] == Dim(1)) continue;  // repeating a single element needs no dim of its own
      --room;
    }
    split.push_back(from[d]);
    strides.push_back(from_strides[d]);
  }
  const bool last = whole == c.out_type(0).shape;
  const task::SlotId y = last ? c.out(0) : c.temp({c.out_type(0).dtype, whole});
  emit_copy(c, c.view(x, split, strides, c.offset(x)), c.reshape(y, split));
  return y;
}

/// Binds the symbols that y's dims are multiples of. A dim of size 0 has none, however often it is
/// repeated.
Result<std::vector<Dim>> repeats_from_data(LowerContext& c) {
  const ir::Shape &x = c.in_type(0).shape, &y = c.out_type(0).shape;
  const auto n_empty = std::count(x.begin(), x.end(), Dim(0));
  const task::SlotId sizes = int_temp(c, static_cast<int64_t>(x.size()) - n_empty);
  std::vector<Dim> repeats(x.size(), Dim(1)), fresh;
  for (size_t d = 0; d < x.size(); ++d) {
    if (x[d] == Dim(0)) continue;
    const auto from = static_cast<int64_t>(d), to = static_cast<int64_t>(fresh.size());
    emit_copy(c, c.slice(c.in(1), 0, from, 1), c.slice(sizes, 0, to, 1));
    repeats[d] = floor_div(y[d], x[d]);
    fresh.push_back(repeats[d]);
  }
  TRY(bind_fresh(c, fresh, sizes));
  return repeats;
}

Result<void> lower(LowerContext& c) {
  const ir::Shape &x = c.in_type(0).shape, &y = c.out_type(0).shape;
  std::vector<Dim> repeats;
  if (const std::vector<Dim>* known = c.in_ints(1)) {
    repeats = *known;
  } else {
    repeats = TRY(repeats_from_data(c));
  }
  if (x == y) {
    c.set_out(0, c.reshape(c.in(0), y));
    return {};
  }
  if (x.size() == kMaxRank)
    return error(Code::kUnsupported, "'x' has rank ", x.size(), ", expected less than ", kMaxRank);
  task::SlotId part = c.in(0);
  do part = tile_some(c, part, repeats);
  while (c.dims(part) != y);
  return {};
}

}  // namespace

extern constinit const ir::OpDef tile = {
    .name = "tile",
    .doc = "y[i, j, ..] = x[i mod dim, j mod dim, ..], repeats[d] times along each dim",
    .inputs = {"x", "repeats"},
    .outputs = {"y"},
    .onnx = {{"Tile", 6}},
    .infer = infer,
    .reference = reference,
    .lower = lower,
    .cases = {"f32[3,5] i64{2,3}", "f32[3,5] i64{1,1}", "f32[1,7] i64{4,1}", "f32[2,3] i64{0,2}",
              "i64{1,2} i64{3}", "f32[0,3] i64{2,2}", "f32[2,3] i64[2]<4",
              "f32[2,1,2,3,2] i64{2,2,2,2,2}", "bool[7] i64{9}", "f32[1,128,384] i64{8,1,1}"},
};

}  // namespace tw::ops
