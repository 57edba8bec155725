// group_normalization: each group of channels of each image to mean 0 and variance 1, then scaled
// and shifted a channel.
#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_attr(c, "stash_type", 1));
  if (c.rank(0) < 3)
    return error(Code::kInvalidModel, "'x' has rank ", c.rank(0), ", expected at least 3");
  const Dim channels = c.shape(0)[1];
  const int64_t n_groups = c.attr_int("num_groups");
  if (n_groups < 1)
    return error(Code::kInvalidModel, "attribute 'num_groups' is ", n_groups,
                 ", expected at least 1");
  if (!channels.is_constant())
    return error(Code::kUnsupported, "'x' has ", channels, " channels, expected a number");
  if (channels.constant() % n_groups != 0)
    return error(Code::kInvalidModel, "'x' has ", channels, " channels, expected a multiple of ",
                 n_groups, " groups");
  for (size_t i = 1; i < 3; ++i) {
    TRY(expect_same_type(c, 0, i));
    TRY(expect_shape(c, i, {channels}));
  }
  c.out(0, c.in(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const ir::ValueId x = c.in(0);
  const ir::Shape dims = c.type(0).shape;  // a copy: new nodes move values
  const int64_t n_groups = c.attr_int("num_groups");
  ShapeBuilder grouped(s);
  grouped.add_dim_of(x, 0).add(n_groups).add(dims[1].constant() / n_groups);
  for (size_t d = 2; d < dims.size(); ++d) grouped.add_dim_of(x, d);
  const ir::ValueId groups = s.reshape(x, grouped.build());
  const ir::ValueId normal =
      s.reshape_like(s.normalize(groups, iota(dims.size() - 1, 2), c.attr_float("epsilon")), x);
  const ir::ValueId scaled = s.op("mul", {normal, s.per_channel(c.in(1), dims.size())});
  c.set_out(0, s.op("add", {scaled, s.per_channel(c.in(2), dims.size())}));
  return s.status();
}

/// Before opset 21 scale and bias are a group's, not a channel's.
Result<void> import_18(ir::ImportContext& c) {
  const ir::Shape x = c.value(0).type.shape;
  const int64_t n_groups = c.attr_int("num_groups", 0);
  if (x.size() < 2 || !x[1].is_constant() || n_groups < 1)
    return error(Code::kUnsupported,
                 "group normalization needs a known number of channels and attribute 'num_groups'");
  const int64_t n_channels = x[1].constant();
  Steps s(c.b());
  const auto spread = [&](ir::ValueId v) {
    const ir::ValueId columns = s.unsqueeze(v, {1});
    return s.reshape(s.op("expand", {columns, s.ints({n_groups, n_channels / n_groups})}),
                     s.ints({n_channels}));
  };
  c.set_out(0, s.op("group_normalization", {c.in(0), spread(c.in(1)), spread(c.in(2))}, c.attrs()));
  c.attrs().clear();
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef group_normalization = {
    .name = "group_normalization",
    .doc =
        "instance normalization over groups of channels: statistics of x[n, group's channels, ..], "
        "scale[c] and bias[c]",
    .inputs = {"x", "scale", "bias"},
    .outputs = {"y"},
    .attrs = {{"epsilon", 1e-5}, {"num_groups", {}}, {"stash_type", 1}},
    .onnx = {{"GroupNormalization", 18, import_18}, {"GroupNormalization", 21}},
    .infer = infer,
    .decompose = decompose,
    .cases = {"f32[2,6,5,7] f32[6] f32[6] ; num_groups=3",
              "f32[1,4,9] f32[4] f32[4] ; num_groups=1 epsilon=0.01 stash_type=1",
              "f32[0,4,5] f32[4] f32[4] ; num_groups=2", "f32[1,1,1] f32[1] f32[1] ; num_groups=1",
              "f32[1,32,32,32] f32[32] f32[32] ; num_groups=8"},
};

}  // namespace tw::ops
