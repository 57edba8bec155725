// Changes of what the host does around programs: registers, steps, ports, constants.
#include <algorithm>

#include "plan_change.h"

namespace tw::fuzz {
namespace {

using plan::Procedure;
using plan::Register;

template <class T>
T& any(std::vector<T>& list, Random& random) {
  return list[below(random, list.size())];
}

Register any_register(const Procedure& procedure, Random& random) {
  if (one_in(random, 8)) return static_cast<Register>(odd_number(random));
  return static_cast<Register>(below(random, size_t{procedure.n_registers} + 1));
}

void change_list(std::vector<Register>& list, const Procedure& procedure, Random& random) {
  if (list.empty() || one_in(random, 4))
    list.push_back(any_register(procedure, random));
  else if (one_in(random, 4))
    list.pop_back();
  else
    any(list, random) = any_register(procedure, random);
}

/// A copy with one change inside.
std::shared_ptr<const Procedure> changed(const std::shared_ptr<const Procedure>& body,
                                         Random& random) {
  auto copy = std::make_shared<Procedure>(*body);
  change_procedure(*copy, random);
  return copy;
}

struct StepChange {
  const Procedure& procedure;
  Random& random;

  void operator()(plan::RunStep& s) const {
    if (one_in(random, 4))
      s.program = static_cast<uint32_t>(below(random, 4));
    else
      change_list(one_in(random, 2) ? s.inputs : s.outputs, procedure, random);
  }
  void operator()(plan::BindStep& s) const {
    if (one_in(random, 3))
      s.source = any_register(procedure, random);
    else if (one_in(random, 2))
      s.from_dims = !s.from_dims;
    else
      s.symbols.insert(s.symbols.begin(), s.symbols.empty() ? "u0" : s.symbols.back());
  }
  void operator()(plan::IfStep& s) const {
    switch (below(random, 4)) {
      case 0:
        s.condition = any_register(procedure, random);
        return;
      case 1:
        return change_list(one_in(random, 2) ? s.inputs : s.outputs, procedure, random);
      case 2:
        s.then_body = changed(s.then_body, random);
        return;
      default:
        s.else_body = changed(s.else_body, random);
    }
  }
  void operator()(plan::LoopStep& s) const {
    std::vector<Register>* lists[] = {&s.carried, &s.captures, &s.outputs};
    switch (below(random, 4)) {
      case 0:
        s.trip_count = any_register(procedure, random);
        return;
      case 1:
        s.condition = any_register(procedure, random);
        return;
      case 2:
        return change_list(*lists[below(random, 3)], procedure, random);
      default:
        s.body = changed(s.body, random);
    }
  }
  void operator()(plan::ScanStep& s) const {
    std::vector<Register>* lists[] = {&s.states, &s.scanned, &s.captures, &s.outputs};
    if (one_in(random, 2))
      change_list(*lists[below(random, 4)], procedure, random);
    else
      s.body = changed(s.body, random);
  }
};

void change_port(plan::Port& port, Random& random) {
  const Dim dims[] = {Dim(0), Dim(1),           Dim(3),
                      Dim(5), Dim::symbol("n"), Dim(int64_t{1} << below(random, 63))};
  const Dim& dim = dims[below(random, std::size(dims))];
  if (one_in(random, 3))
    port.dtype = static_cast<DType>(below(random, kDTypeCount));
  else if (port.shape.empty() || one_in(random, 4))
    port.shape.push_back(dim);
  else if (one_in(random, 4))
    port.shape.pop_back();
  else
    any(port.shape, random) = dim;
}

void change_constant(plan::ConstantRegister& constant, Random& random) {
  switch (below(random, 4)) {
    case 0:
      constant.reg = static_cast<Register>(odd_number(random));
      return;
    case 1:
      constant.dtype = static_cast<DType>(below(random, kDTypeCount));
      return;
    case 2:
      constant.offset_bytes += odd_number(random) % 9;
      return;
    default:
      if (!constant.dims.empty()) constant.dims[0] = odd_number(random);
  }
}

void change_steps(Procedure& procedure, Random& random) {
  if (procedure.steps.empty()) return;
  const auto at =
      procedure.steps.begin() + static_cast<std::ptrdiff_t>(below(random, procedure.steps.size()));
  switch (below(random, 3)) {
    case 0:
      std::iter_swap(at, procedure.steps.begin());
      return;
    case 1:
      procedure.steps.erase(at);
      return;
    default:
      procedure.steps.insert(at, plan::Step(*at));
  }
}

}  // namespace

void change_procedure(Procedure& procedure, Random& random) {
  switch (below(random, 8)) {
    case 0:
      procedure.n_registers = static_cast<uint32_t>(odd_number(random));
      return;
    case 1: {
      auto& ports = one_in(random, 2) ? procedure.inputs : procedure.outputs;
      if (!ports.empty()) change_port(any(ports, random), random);
      return;
    }
    case 2:
      return change_list(procedure.output_registers, procedure, random);
    case 3:
      if (!procedure.constants.empty()) change_constant(any(procedure.constants, random), random);
      return;
    case 4:
      return change_steps(procedure, random);
    default:
      if (!procedure.steps.empty())
        std::visit(StepChange{procedure, random}, any(procedure.steps, random));
  }
}

}  // namespace tw::fuzz
