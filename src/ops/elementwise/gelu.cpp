// gelu: the Gaussian error linear unit, exact or by its usual tanh approximation.
#include <numbers>

#include "ops/elementwise/common_unary.h"

namespace tw::ops {
namespace {

double exact(double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }

double by_tanh(double x) {
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)
  return 0.5 * x * (1 + std::tanh(scale * (x + 0.044715 * x * x * x)));
}

/// 0.5 * x * (1 + erf(x / sqrt 2)) in ops.
Result<ir::ValueId> decompose_exact(ir::DecomposeContext& c) {
  const DType dtype = c.type(0).dtype;
  const ir::ValueId scaled =
      TRY(c.b().op("mul", {c.in(0), c.b().scalar(dtype, 1 / std::numbers::sqrt2)}));
  const ir::ValueId erf = TRY(c.b().op("erf", {scaled}));
  return c.b().op("add", {erf, c.b().scalar(dtype, 1)});
}

Result<ir::ValueId> decompose_by_tanh(ir::DecomposeContext& c) {
  const DType dtype = c.type(0).dtype;
  const ir::ValueId square = TRY(c.b().op("mul", {c.in(0), c.in(0)}));
  const ir::ValueId small = TRY(c.b().op("mul", {square, c.b().scalar(dtype, 0.044715)}));
  const ir::ValueId factor = TRY(c.b().op("add", {small, c.b().scalar(dtype, 1)}));
  const ir::ValueId inner = TRY(c.b().op("mul", {c.in(0), factor}));
  const ir::ValueId scale = c.b().scalar(dtype, std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  const ir::ValueId scaled = TRY(c.b().op("mul", {inner, scale}));
  const ir::ValueId tanh = TRY(c.b().op("tanh", {scaled}));
  return c.b().op("add", {tanh, c.b().scalar(dtype, 1)});
}

}  // namespace

extern constinit const ir::OpDef gelu = {
    .name = "gelu",
    .doc =
        "y = x / 2 * (1 + erf(x / sqrt(2))); approximate=tanh: x / 2 * (1 + tanh(sqrt(2 / pi) * (x "
        "+ 0.044715 x^3)))",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"approximate", "none"}},
    .onnx = {{"Gelu", 20}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      const std::string approximate = c.attr_string("approximate");
      if (approximate != "none" && approximate != "tanh")
        return error(Code::kInvalidModel, "attribute 'approximate' is '", approximate,
                     "', expected none or tanh");
      return infer_unary<kFloats>(c);
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      return c.attr_string("approximate") == "tanh" ? map_float<by_tanh>(c) : map_float<exact>(c);
    },
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      const bool tanh = c.attr_string("approximate") == "tanh";
      const ir::ValueId gate = TRY(tanh ? decompose_by_tanh(c) : decompose_exact(c));
      const ir::ValueId half = TRY(c.b().op("mul", {c.in(0), c.b().scalar(c.type(0).dtype, 0.5)}));
      c.set_out(0, TRY(c.b().op("mul", {half, gate})));
      return {};
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const bool tanh = c.attr_string("approximate") == "tanh";
      return tanh ? emit_unary<task::PointOp::kGeluTanh>(c) : emit_unary<task::PointOp::kGelu>(c);
    },
    .cases = {"f32[1,64,768]", "f32[1,64,768] ; approximate=\"tanh\"", "f32{-5,-1,0,1,5}",
              "f32[3,0,2]", "f32[1] ; approximate=\"tanh\"", "f64[3,5]", "f16[5,7]",
              "bf16[9] ; approximate=\"tanh\""},
};

}  // namespace tw::ops
