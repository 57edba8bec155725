// lp_normalization: rows along `axis` divided by their 1- or 2-norm; a row of zeros stays one.
#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(c.axis(c.attr_int("axis"), c.rank(0), "attribute 'axis'"));
  const int64_t p = c.attr_int("p");
  if (p != 1 && p != 2)
    return error(Code::kInvalidModel, "attribute 'p' is ", p, ", expected 1 or 2");
  c.out(0, c.in(0));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const ir::ValueId norm =
      s.op(c.attr_int("p") == 1 ? "reduce_l1" : "reduce_l2",
           {c.in(0), s.ints({c.attr_int("axis")})}, {{"keepdims", int64_t{1}}});
  const ir::ValueId zero = s.scalar(c.type(0).dtype, 0);
  c.set_out(0, s.op("where", {s.op("equal", {norm, zero}), zero, s.op("div", {c.in(0), norm})}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef lp_normalization = {
    .name = "lp_normalization",
    .doc = "y = x / (the p-norm of x along axis), 0 where the norm is 0",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"axis", -1}, {"p", 2}},
    .onnx = {{"LpNormalization", 1}},
    .infer = infer,
    .decompose = decompose,
    .cases = {"f32[5,7]", "f32[2,3,5] ; axis=1 p=1", "f32[0,4]", "f32[3,1]", "f32[32,512]",
              "f32{0,0,0} ; axis=0"},
};

}  // namespace tw::ops
