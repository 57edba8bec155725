// is_inf: tells infinite elements, of either sign or of one.
#include <limits>

#include "ops/elementwise/common_unary.h"

namespace tw::ops {

extern constinit const ir::OpDef is_inf = {
    .name = "is_inf",
    .doc = "y = whether x is infinite; detect_negative=0 and detect_positive=0 leave out a sign",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"detect_negative", 1}, {"detect_positive", 1}},
    .onnx = {{"IsInf", 10}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      TRY(expect_type(c, 0, kFloats));
      c.out(0, {DType::kBool, c.shape(0)});
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      const bool negative = c.attr_int("detect_negative") != 0;
      const bool positive = c.attr_int("detect_positive") != 0;
      return map_with(c, [=](double x) {
        return static_cast<uint64_t>(std::isinf(x) && (x < 0 ? negative : positive));
      });
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      const DType dtype = c.in_type(0).dtype;
      const bool negative = c.attr_int("detect_negative") != 0;
      const bool positive = c.attr_int("detect_positive") != 0;
      if (negative && positive) return emit_unary<task::PointOp::kIsInf>(c);
      if (!negative && !positive) {
        c.set_out(c.literal_int(0));
        return {};
      }
      const double infinity = std::numeric_limits<double>::infinity();
      c.set_out(c.emit(task::PointOp::kEqual, dtype, c.in(0),
                       c.literal(dtype, positive ? infinity : -infinity)));
      return {};
    },
    .cases = {"f32[16,256]", "f32{0,nan,inf,-inf,1}", "f32{inf,-inf,1} ; detect_negative=0",
              "f32{inf,-inf,1} ; detect_positive=0",
              "f32{inf,-inf,1} ; detect_negative=0 detect_positive=0", "f32[3,0]", "f64{inf,2}",
              "f16{-inf,nan,7}", "bf16{inf,1,2}"},
};

}  // namespace tw::ops
