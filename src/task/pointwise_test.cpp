#include "task/pointwise.h"

#include <gtest/gtest.h>

#include <array>

namespace tw::task {
namespace {

TEST(PointView, AnOperandThatIsNotReadIsARegisterTooSinceExecutorsLookItUp) {
  PointInstr instr;
  instr.op = PointOp::kIsNan;
  instr.b = 255;
  const uint8_t outputs[] = {0};
  const PointView program{.n_inputs = 1, .n_registers = 1, .outputs = outputs, .code = {&instr, 1}};
  const auto valid = validate(program, std::array{Lane::kF32});
  ASSERT_FALSE(valid.ok());
  EXPECT_EQ(valid.error().message,
            "instruction 0 (is_nan) names register 255, at most 32 are there");
}

}  // namespace
}  // namespace tw::task
