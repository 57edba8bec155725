// target.h: what the planner asks of a backend. Each backend implements it; api injects it, so the
// planner names none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/tensor.h"
#include "plan/plan.h"
#include "task/program.h"

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
  /// The versions that a plan is built with and wants, for its contract: keys and values.
  virtual plan::Contract contract() const { return {}; }
  /// How `weight`, operand `operand` of `task`, is stored; nothing: as it is.
  virtual Result<std::optional<PackedWeight>> pack(const task::Record& task,
                                                   std::string_view operand,
                                                   const Tensor& weight) const = 0;

  /// Whether there is a device beside the host: every task is then asked for by declines().
  virtual bool has_device() const { return false; }
  /// Why this task cannot run on the device, so that it runs on the host; nothing: it can.
  virtual std::optional<std::string> declines(const task::Record& /*record*/, task::Slots /*slots*/,
                                              std::span<const std::byte> /*side*/) const {
    return std::nullopt;
  }
  /// Sets what the executor may choose of a draft's tasks: flags, variant, and where `program`,
  /// which is the draft built at its sample sizes, has open sizes, the variants of other sizes.
  /// `reports` gains what was measured.
  virtual Result<void> choose_tactics(const task::Program& /*program*/,
                                      std::vector<task::Draft::Task>& /*tasks*/,
                                      std::vector<std::string>& /*reports*/) const {
    return {};
  }
  /// The kernels that these programs need, each once.
  virtual Result<std::vector<plan::Kernel>> compile_kernels(
      const std::vector<task::Program>& /*programs*/) const {
    return std::vector<plan::Kernel>();
  }
  /// How many queues whole-op programs are dealt to, and of which kind.
  virtual int n_queues() const { return 4; }
  virtual task::QueueKind queue_kind() const { return task::QueueKind::kCpu; }
};

}  // namespace tw::planner
