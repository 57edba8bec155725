// div: a quotient. Integer division rounds towards zero, so a symbolic quotient is a floor_div only
// where no sign can differ.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {
namespace {

std::optional<Dim> divide_dims(const Dim& a, const Dim& b) {
  if (b == Dim(0) || !is_never_negative(b)) return std::nullopt;
  if (is_never_negative(a)) return floor_div(a, b);
  return max(floor_div(a, b), Dim(0)) +
         min(ceil_div(a, b), Dim(0));  // one of the two is 0, whatever a's sign
}

}  // namespace

extern constinit const ir::OpDef div = {
    .name = "div",
    .doc = "y = a / b; integers round towards zero",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .onnx = {{"Div", 7}},

    .infer = infer_int_binary<kNumbers, [](auto a, auto b) { return divide_numbers(a, b); },
                              divide_dims>,
    .reference = map_binary<[](auto a, auto b) { return divide_numbers(a, b); }>,
    .pointwise = emit_binary<task::PointOp::kDiv>,
    .cases = {"f32[1,64,768] f32[768]>0", "f32[3,5] f32[3,5]>0", "f32[4,1] f32[1,3]>0",
              "f32[2,0] f32[1]>0", "f32[5] f32[]>0", "f32{1,-1,0} f32{0,0,0}", "f64[3] f64[3]>0",
              "f16[5,7] f16[7]>0", "bf16[9] bf16[9]>0", "i64{7,-7,7,-7} i64{2,2,-2,-2}",
              "i32[3,4] i32{1,2,3,7}", "u8{255,7,100} u8{2,3,7}",
              "u64{18446744073709549568,9} u64{3,2}", "i8{-128,100} i8{-1,3}"},
};

}  // namespace tw::ops
