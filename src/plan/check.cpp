#include "plan/check.h"

#include <algorithm>

#include "base/tensor.h"

namespace tw::plan {
namespace {

class Checker {
 public:
  explicit Checker(const Plan& plan) : plan_(plan) {}

  Result<void> check(const Procedure& procedure) const {
    if (procedure.inputs.size() > procedure.n_registers ||
        procedure.outputs.size() != procedure.output_registers.size())
      return error(Code::kCorrupt, "the signature does not fit ", procedure.n_registers,
                   " registers");
    std::vector<bool> set(procedure.n_registers, false);
    for (size_t i = 0; i < procedure.inputs.size(); ++i) set[i] = true;
    for (const ConstantRegister& constant : procedure.constants) {
      TRY(define(set, constant.reg));
      const int64_t bytes = TRY(checked_bytes(constant.dtype, constant.dims));
      if (constant.offset_bytes < 0 || bytes > static_cast<int64_t>(plan_.weights.size()) ||
          constant.offset_bytes > static_cast<int64_t>(plan_.weights.size()) - bytes)
        return error(Code::kCorrupt, "a constant lies outside the weights");
    }
    for (size_t i = 0; i < procedure.steps.size(); ++i)
      TRY(std::visit([&](const auto& step) { return check_step(step, set); }, procedure.steps[i])
              .in(cat("step ", i)));
    return use(set, procedure.output_registers);
  }

 private:
  static Result<void> define(std::vector<bool>& set, Register reg) {
    if (reg >= set.size()) return error(Code::kCorrupt, "register ", reg, " of ", set.size());
    set[reg] = true;
    return {};
  }
  static Result<void> use(const std::vector<bool>& set, const std::vector<Register>& list) {
    for (const Register reg : list)
      if (reg >= set.size() || !set[reg])
        return error(Code::kCorrupt, "register ", reg, " is read before anything is in it");
    return {};
  }
  static Result<void> define_all(std::vector<bool>& set, const std::vector<Register>& list) {
    for (const Register reg : list) TRY(define(set, reg));
    return {};
  }

  Result<void> check_step(const RunStep& step, std::vector<bool>& set) const {
    if (step.program >= plan_.programs.size())
      return error(Code::kCorrupt, "program ", step.program, " of ", plan_.programs.size());
    const task::Program& program = plan_.programs[step.program];
    if (step.inputs.size() != program.inputs.size() ||
        step.outputs.size() != program.outputs.size())
      return error(Code::kCorrupt, "program ", step.program, " takes ", program.inputs.size(),
                   " and gives ", program.outputs.size(), " tensors");
    TRY(use(set, step.inputs));
    return define_all(set, step.outputs);
  }
  Result<void> check_step(const BindStep& step, std::vector<bool>& set) const {
    return use(set, {step.source});
  }
  Result<void> check_step(const IfStep& step, std::vector<bool>& set) const {
    TRY(use(set, {step.condition}));
    TRY(use(set, step.inputs));
    for (const auto& body : {step.then_body, step.else_body}) {
      if (body->inputs.size() != step.inputs.size() || body->outputs.size() != step.outputs.size())
        return error(Code::kCorrupt, "a branch takes other values than its step");
      TRY(check(*body));
    }
    return define_all(set, step.outputs);
  }
  Result<void> check_step(const LoopStep& step, std::vector<bool>& set) const {
    for (const Register optional : {step.trip_count, step.condition})
      if (optional != kNoRegister) TRY(use(set, {optional}));
    TRY(use(set, step.carried));
    TRY(use(set, step.captures));
    if (step.body->inputs.size() != 2 + step.carried.size() + step.captures.size() ||
        step.body->outputs.size() != 1 + step.outputs.size() ||
        step.outputs.size() < step.carried.size())
      return error(Code::kCorrupt, "the loop's body takes other values than its step");
    TRY(check(*step.body));
    return define_all(set, step.outputs);
  }
  Result<void> check_step(const ScanStep& step, std::vector<bool>& set) const {
    TRY(use(set, step.states));
    TRY(use(set, step.scanned));
    TRY(use(set, step.captures));
    if (step.scanned.empty() ||
        step.body->inputs.size() !=
            step.states.size() + step.scanned.size() + step.captures.size() ||
        step.body->outputs.size() != step.outputs.size() ||
        step.outputs.size() < step.states.size())
      return error(Code::kCorrupt, "the scan's body takes other values than its step");
    TRY(check(*step.body));
    return define_all(set, step.outputs);
  }

  const Plan& plan_;
};

Result<void> check_program(const Plan& plan, const task::Program& program) {
  for (size_t i = 0; i < program.slots.size(); ++i) {
    const task::SlotInfo& slot = program.slots[i];
    const auto weights = static_cast<int64_t>(plan.weights.size());
    if (slot.space == task::Space::kWeight && !slot.is_view() &&
        (slot.offset_bytes < 0 || slot.storage_bytes < 0 || slot.storage_bytes > weights ||
         slot.offset_bytes > weights - slot.storage_bytes))
      return error(Code::kCorrupt, "slot ", i, " lies outside the weights of ", weights, " bytes");
    const bool listed =
        std::count(program.inputs.begin(), program.inputs.end(), static_cast<task::SlotId>(i)) +
            std::count(program.outputs.begin(), program.outputs.end(),
                       static_cast<task::SlotId>(i)) ==
        1;
    const bool external = !slot.is_view() &&
                          (slot.space == task::Space::kInput || slot.space == task::Space::kOutput);
    if (listed != external)
      return error(Code::kCorrupt, "slot ", i,
                   " does not stand in the signature as its space says");
  }
  return {};
}

}  // namespace

Result<void> check_plan(const Plan& plan, bool verify_programs) {
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    const std::string place = i < plan.program_names.size()
                                  ? cat("program '", plan.program_names[i], "'")
                                  : cat("program ", i);
    TRY(check_program(plan, plan.programs[i]).in(place));
    if (verify_programs) TRY(task::verify(plan.programs[i]).in(place));
  }
  return Checker(plan).check(plan.main);
}

}  // namespace tw::plan
