#include "plan/check.h"

#include <algorithm>
#include <optional>

#include "base/tensor.h"

namespace tw::plan {
namespace {

/// What each register holds at one point of a procedure: nothing, or a tensor of a type.
using Held = std::vector<std::optional<DType>>;

class Checker {
 public:
  explicit Checker(const Plan& plan) : plan_(plan) {}

  Result<void> check(const Procedure& procedure) const {
    Held held = TRY(open(procedure));
    for (size_t i = 0; i < procedure.constants.size(); ++i)
      TRY(check_constant(procedure.constants[i], held).in(cat("constant ", i)));
    for (size_t i = 0; i < procedure.steps.size(); ++i)
      TRY(std::visit([&](const auto& step) { return check_step(step, held); }, procedure.steps[i])
              .in(cat("step ", i)));
    for (size_t i = 0; i < procedure.outputs.size(); ++i)
      TRY(expect(held, procedure.output_registers[i], procedure.outputs[i].dtype)
              .in(cat("output '", procedure.outputs[i].name, "'")));
    return {};
  }

 private:
  /// The registers as a call leaves them: the inputs are there. Every other register is set by a
  /// constant or a step, so their number has a bound, and is no way to ask for memory.
  static Result<Held> open(const Procedure& procedure) {
    size_t most = procedure.inputs.size() + procedure.constants.size();
    for (const Step& step : procedure.steps)
      most += std::visit([](const auto& s) { return results(s); }, step);
    if (procedure.n_registers > most)
      return error(Code::kCorrupt, "the procedure has ", procedure.n_registers,
                   " registers, expected at most ", most);
    if (procedure.inputs.size() > procedure.n_registers)
      return error(Code::kCorrupt, "the procedure has ", procedure.n_registers,
                   " registers, expected at least ", procedure.inputs.size());
    if (procedure.outputs.size() != procedure.output_registers.size())
      return error(Code::kCorrupt, "the procedure has registers for ",
                   procedure.output_registers.size(), " outputs, expected ",
                   procedure.outputs.size());
    Held held(procedure.n_registers);
    for (size_t i = 0; i < procedure.inputs.size(); ++i) held[i] = procedure.inputs[i].dtype;
    return held;
  }
  static size_t results(const BindStep&) { return 0; }
  static size_t results(const auto& step) { return step.outputs.size(); }

  static Result<void> set(Held& held, Register reg, DType dtype) {
    if (reg >= held.size())
      return error(Code::kCorrupt, "register ", reg, " is set, expected below ", held.size());
    held[reg] = dtype;
    return {};
  }
  static Result<DType> get(const Held& held, Register reg) {
    if (reg >= held.size())
      return error(Code::kCorrupt, "register ", reg, " is read, expected below ", held.size());
    if (!held[reg])
      return error(Code::kCorrupt, "register ", reg, " is read before anything is in it");
    return *held[reg];
  }
  static Result<void> expect(const Held& held, Register reg, DType dtype) {
    const DType found = TRY(get(held, reg));
    if (found == dtype) return {};
    return error(Code::kCorrupt, "register ", reg, " holds ", found, ", expected ", dtype);
  }
  static Result<void> expect_count(std::string_view what, size_t found, size_t expected) {
    if (found == expected) return {};
    return error(Code::kCorrupt, "found ", found, " ", what, ", expected ", expected);
  }

  Result<void> check_constant(const ConstantRegister& constant, Held& held) const {
    const int64_t bytes = TRY(checked_bytes(constant.dtype, constant.dims));
    const auto weights = static_cast<int64_t>(plan_.weights.size());
    if (constant.offset_bytes < 0 || bytes > weights || constant.offset_bytes > weights - bytes ||
        constant.offset_bytes % size_bytes(constant.dtype) != 0)
      return error(Code::kCorrupt, "has ", bytes, " bytes at ", constant.offset_bytes,
                   ", expected whole elements in the weights of ", weights, " bytes");
    return set(held, constant.reg, constant.dtype);
  }

  Result<void> check_step(const RunStep& step, Held& held) const {
    if (step.program >= plan_.programs.size())
      return error(Code::kCorrupt, "program ", step.program, " is run, expected below ",
                   plan_.programs.size());
    const task::Program& program = plan_.programs[step.program];
    TRY(expect_count("inputs", step.inputs.size(), program.inputs.size()));
    TRY(expect_count("outputs", step.outputs.size(), program.outputs.size()));
    for (size_t i = 0; i < step.inputs.size(); ++i)
      TRY(expect(held, step.inputs[i], program.slot(program.inputs[i]).dtype));
    for (size_t i = 0; i < step.outputs.size(); ++i)
      TRY(set(held, step.outputs[i], program.slot(program.outputs[i]).dtype));
    return {};
  }
  Result<void> check_step(const BindStep& step, Held& held) const {
    TRY(get(held, step.source));
    return {};
  }
  Result<void> check_step(const IfStep& step, Held& held) const {
    TRY(get(held, step.condition));
    for (const auto& body : {step.then_body, step.else_body}) {
      TRY(expect_count("outputs of a branch", body->outputs.size(), step.outputs.size()));
      TRY(check_body(*body, {&step.inputs}, 0, held));
    }
    // A branch that is refused is never taken, and the other one says what comes out.
    const Procedure& taken = step.then_refusal.empty() ? *step.then_body : *step.else_body;
    for (size_t i = 0; i < taken.outputs.size() && step.else_refusal.empty(); ++i)
      if (taken.outputs[i].dtype != step.else_body->outputs[i].dtype)
        return error(Code::kCorrupt, "one branch gives ", taken.outputs[i].dtype, " as output ", i,
                     ", the other ", step.else_body->outputs[i].dtype);
    return set_outputs(step.outputs, taken.outputs, 0, held);
  }
  Result<void> check_step(const LoopStep& step, Held& held) const {
    for (const Register optional : {step.trip_count, step.condition})
      if (optional != kNoRegister) TRY(get(held, optional));
    TRY(expect_count("outputs of the body", step.body->outputs.size(), 1 + step.outputs.size()));
    TRY(check_body(*step.body, {&step.carried, &step.captures}, 2, held));
    TRY(check_carried(*step.body, 2, 1, step.carried.size()));
    return set_outputs(step.outputs, step.body->outputs, 1, held);
  }
  Result<void> check_step(const ScanStep& step, Held& held) const {
    if (step.scanned.empty()) return error(Code::kCorrupt, "found nothing to scan over");
    TRY(expect_count("outputs of the body", step.body->outputs.size(), step.outputs.size()));
    TRY(check_body(*step.body, {&step.states, &step.scanned, &step.captures}, 0, held));
    TRY(check_carried(*step.body, 0, 0, step.states.size()));
    return set_outputs(step.outputs, step.body->outputs, 0, held);
  }

  /// A body whose first `n_own` inputs its step makes and whose others come from these registers.
  Result<void> check_body(const Procedure& body,
                          std::initializer_list<const std::vector<Register>*> lists, size_t n_own,
                          const Held& held) const {
    size_t next = n_own;
    for (const auto* list : lists) next += list->size();
    TRY(expect_count("inputs of the body", body.inputs.size(), next));
    next = n_own;
    for (const auto* list : lists)
      for (const Register reg : *list) TRY(expect(held, reg, body.inputs[next++].dtype));
    return check(body).in("body");
  }
  /// What a body hands to its next round has the type that the round takes.
  static Result<void> check_carried(const Procedure& body, size_t first_in, size_t first_out,
                                    size_t n) {
    if (body.outputs.size() < first_out + n)
      return error(Code::kCorrupt, "found ", body.outputs.size(), " outputs of the body, expected ",
                   first_out + n, " at least");
    for (size_t i = 0; i < n; ++i) {
      const DType in = body.inputs[first_in + i].dtype, out = body.outputs[first_out + i].dtype;
      if (in != out)
        return error(Code::kCorrupt, "the body takes carried value ", i, " as ", in, " and gives ",
                     out);
    }
    return {};
  }
  static Result<void> set_outputs(const std::vector<Register>& list, const std::vector<Port>& ports,
                                  size_t first, Held& held) {
    for (size_t i = 0; i < list.size(); ++i) TRY(set(held, list[i], ports[first + i].dtype));
    return {};
  }

  const Plan& plan_;
};

constexpr int64_t kWeightAlignment = 64;  // kernels may load whole vectors

Result<void> check_program(const Plan& plan, const task::Program& program) {
  for (size_t i = 0; i < program.slots.size(); ++i) {
    const task::SlotInfo& slot = program.slots[i];
    const auto weights = static_cast<int64_t>(plan.weights.size());
    if (slot.space == task::Space::kWeight && !slot.is_view() &&
        (slot.offset_bytes < 0 || slot.offset_bytes % kWeightAlignment != 0 ||
         slot.storage_bytes < 0 || slot.storage_bytes > weights ||
         slot.offset_bytes > weights - slot.storage_bytes))
      return error(Code::kCorrupt, "slot ", i, " lies outside the weights of ", weights,
                   " bytes or off their alignment");
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
