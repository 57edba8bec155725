// lp_pool: the p-norm of each window. It is a power of an average pool that counts padding: every
// window then has the same number of elements, and zeros add nothing to a norm.
#include <cmath>

#include "ir/op_def.h"
#include "ops/nn/common_build.h"
#include "ops/nn/common_check.h"
#include "ops/nn/common_pool.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  TRY(expect_float(c, 0));
  TRY(expect_attr(c, "ceil_mode", 0));
  if (c.attr_int("p") < 1)
    return error(Code::kInvalidModel, "attribute 'p' is ", c.attr_int("p"),
                 ", expected at least 1");
  return infer_pool(c);
}

Result<void> reference(ir::EvalContext& c) {
  const auto p = static_cast<double>(c.attr_int("p"));
  return evaluate_pool(c, [p](const PoolWindow&, auto&& each) {
    double sum = 0;
    each([&](double x) { sum += std::pow(std::abs(x), p); });
    return std::pow(sum, 1 / p);
  });
}

Result<void> decompose(ir::DecomposeContext& c) {
  Steps s(c.b());
  const DType dtype = c.type(0).dtype;
  const auto p = static_cast<double>(c.attr_int("p"));
  double n_taps = 1;
  for (const int64_t size : c.attr_ints("kernel_shape")) n_taps *= static_cast<double>(size);
  ir::Attrs attrs = c.node().attrs;
  attrs.erase("p");
  attrs.erase("ceil_mode");
  attrs["count_include_pad"] = int64_t{1};
  const ir::ValueId power = s.op("pow", {s.op("abs", {c.in(0)}), s.scalar(dtype, p)});
  const ir::ValueId mean = s.op("average_pool", {power}, std::move(attrs));
  const ir::ValueId sum = s.op("mul", {mean, s.scalar(dtype, n_taps)});
  c.set_out(0, s.op("pow", {sum, s.scalar(dtype, 1 / p)}));
  return s.status();
}

}  // namespace

extern constinit const ir::OpDef lp_pool = {
    .name = "lp_pool",
    .doc = "y[n, c, o..] = (sum over a window of |x[n, c, ..]|^p)^(1/p)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"auto_pad", "NOTSET"},
              {"ceil_mode", 0},
              {"dilations", {}},
              {"kernel_shape", {}},
              {"p", 2},
              {"pads", {}},
              {"strides", {}},
              {"layout", "nchw"}},
    .onnx = {{"LpPool", 2}},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .cases = {"f32[2,3,7,9] ; kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
              "f32[1,3,10] ; kernel_shape=[4] p=1 auto_pad=\"SAME_UPPER\" ceil_mode=0",
              "f32[1,9,8,2] ; kernel_shape=[3,2] dilations=[2,1] layout=\"nhwc\"",
              "f32[0,3,5,5] ; kernel_shape=[2,2]", "f32[1,1,1,1] ; kernel_shape=[1,1] p=3",
              "f32[1,16,32,32] ; kernel_shape=[2,2] strides=[2,2]"},
};

}  // namespace tw::ops
