// bit_shift: shifts the bits of unsigned integers; by the width of the type or more gives 0.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {
namespace {

uint64_t shift_left(uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; }
uint64_t shift_right(uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; }

}  // namespace

extern constinit const ir::OpDef bit_shift = {
    .name = "bit_shift",
    .doc = "y = a << b (direction=LEFT) or a >> b (direction=RIGHT)",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .attrs = {{"direction", {}}},
    .onnx = {{"BitShift", 11}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      const std::string direction = c.attr_string("direction");
      if (direction != "LEFT" && direction != "RIGHT")
        return error(Code::kInvalidModel, "attribute 'direction' is '", direction,
                     "', expected LEFT or RIGHT");
      return infer_broadcast<kUnsignedInts>(c);
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      return c.attr_string("direction") == "LEFT" ? map_binary_bits<shift_left>(c)
                                                  : map_binary_bits<shift_right>(c);
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      return c.attr_string("direction") == "LEFT" ? emit_binary<task::PointOp::kShiftLeft>(c)
                                                  : emit_binary<task::PointOp::kShiftRight>(c);
    },
    .cases = {"u8[16,256] u8[256]<8 ; direction=\"LEFT\"", "u32[7] u32[7]<32 ; direction=\"RIGHT\"",
              "u16[2,0] u16[1]<4 ; direction=\"LEFT\"",
              "u64{1,255,18446744073709549568} u64{63,9,11} ; direction=\"RIGHT\"",
              "u64{1,255} u64{63,64} ; direction=\"LEFT\"",
              "u8[4,1] u8[1,3]<8 ; direction=\"RIGHT\""},
};

}  // namespace tw::ops
