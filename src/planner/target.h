// target.h: what the planner asks of a backend. Each backend implements it; api injects it, so the
// planner names none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/tensor.h"
#include "task/record.h"

namespace tw::planner {

/// A weight in the form that a task's kernel reads best.
struct PackedWeight {
  std::vector<std::byte> bytes;
  task::Layout layout = task::Layout::kPanels;
};

class TargetServices {
 public:
  virtual ~TargetServices() = default;
  /// "cpu avx512", "sm_90" ...: stands in the plan's contract.
  virtual std::string name() const = 0;
  /// How `weight`, operand `operand` of `task`, is stored; nothing: as it is.
  virtual Result<std::optional<PackedWeight>> pack(const task::Record& task,
                                                   std::string_view operand,
                                                   const Tensor& weight) const = 0;
};

}  // namespace tw::planner
