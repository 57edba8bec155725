#include "backends/cpu/points/plan.h"

#include "backends/cpu/lanes.h"

namespace tw::cpu {
namespace {

using task::Lane;
using task::PointInstr;
using task::PointOp;

Lane result_lane(const PointInstr& instr) {
  switch (instr.op) {
    case PointOp::kCast:
      return task::lane_of(instr.dtype);
    case PointOp::kIndex:
    case PointOp::kEqual:
    case PointOp::kNotEqual:
    case PointOp::kLess:
    case PointOp::kLessEqual:
    case PointOp::kGreater:
    case PointOp::kGreaterEqual:
    case PointOp::kAnd:
    case PointOp::kOr:
    case PointOp::kXor:
    case PointOp::kNot:
    case PointOp::kIsNan:
    case PointOp::kIsInf:
      return Lane::kI64;
    default:
      return instr.lane;
  }
}

bool stored_as_lane(DType dtype) {
  return dtype == DType::kF32 || is_lane<double>(dtype) || is_lane<int64_t>(dtype);
}

/// The type of an integer result, which later instructions may need to know unsigned 64 from
/// signed.
DType result_type(const PointInstr& instr, DType operand) {
  if (instr.op == PointOp::kCast) return instr.dtype;
  if (result_lane(instr) != Lane::kI64) return DType::kF32;
  return instr.dtype == DType::kF32 ? operand : instr.dtype;
}

struct Usage {
  int writes = 0;
  size_t last_write = 0;
};

/// Fills what follows from the order of reads and writes.
void study(PointPlan& plan) {
  const task::PointView& program = plan.program;
  plan.operand_type.reserve(program.code.size());
  std::array<Usage, task::kMaxPointRegisters> usage;
  std::array<DType, task::kMaxPointRegisters> type{};
  size_t last_input_read = 0;
  for (size_t i = 0; i < program.n_inputs; ++i) {
    plan.lane[i] = task::lane_of(plan.inputs[i]);
    type[i] = plan.inputs[i];
  }
  for (size_t i = 0; i < program.code.size(); ++i) {
    const PointInstr& instr = program.code[i];
    const uint8_t operands[3] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < task::arity(instr.op); ++k) {
      if (operands[k] < program.n_inputs) last_input_read = i;
    }
    const bool has_operand = task::arity(instr.op) > 0;
    // The condition of `where` is its first operand; its values are the second and third.
    const uint8_t typed = instr.op == PointOp::kWhere ? instr.b : instr.a;
    const DType operand = has_operand ? type[typed] : instr.dtype;
    plan.operand_type.push_back(operand);
    type[instr.dst] = result_type(instr, operand);
    plan.lane[instr.dst] = result_lane(instr);
    plan.is_literal[instr.dst] = instr.op == PointOp::kLiteral;
    plan.uses_index = plan.uses_index || instr.op == PointOp::kIndex;
    ++usage[instr.dst].writes;
    usage[instr.dst].last_write = i;
  }
  for (size_t r = 0; r < usage.size(); ++r) {
    plan.keeps_input[r] = r < program.n_inputs && usage[r].writes == 0;
    plan.is_literal[r] = plan.is_literal[r] && usage[r].writes == 1 && r >= program.n_inputs;
  }
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const uint8_t reg = program.outputs[o];
    bool alone = true;
    for (size_t other = 0; other < o; ++other) alone = alone && program.outputs[other] != reg;
    plan.in_place.push_back(alone && reg >= program.n_inputs && usage[reg].writes == 1 &&
                            !plan.is_literal[reg] && usage[reg].last_write >= last_input_read &&
                            stored_as_lane(plan.outputs[o]) &&
                            task::lane_of(plan.outputs[o]) == plan.lane[reg]);
  }
}

}  // namespace

Result<std::unique_ptr<PointPlan>> make_point_plan(std::span<const std::byte> side,
                                                   task::SideOffset offset,
                                                   const PointPlan::Types& inputs,
                                                   const PointPlan::Types& outputs) {
  auto plan = std::make_unique<PointPlan>();
  plan->program = TRY(task::view_point_program(side, offset));
  plan->inputs = inputs;
  plan->outputs = outputs;
  FixedList<Lane, task::kMaxOperands> lanes;
  for (const DType dtype : inputs) lanes.push_back(task::lane_of(dtype));
  TRY(task::validate(plan->program, {lanes.data(), lanes.size()}));
  if (plan->program.outputs.size() != outputs.size()) {
    return error(Code::kCorrupt, "elementwise program has ", plan->program.outputs.size(),
                 " outputs, the task has ", outputs.size());
  }
  study(*plan);
  return plan;
}

}  // namespace tw::cpu
