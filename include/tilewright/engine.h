// engine.h: runs plans. An Engine holds what all runs share (plan, threads, programs by size); a
// Context holds one run's memory.
#pragma once

#include <memory>
#include <vector>

#include "tilewright/plan.h"

namespace tilewright {

struct EngineOptions {
  int threads = 0;  ///< the calling thread included; 0: one a core. Results do not depend on it.
  int spin_pauses = 500;  ///< CPU pauses for which a thread without work watches before it sleeps
  size_t max_instances =
      256;  ///< programs kept for sizes that came up before; the longest unused goes first
};

/// One run at a time: a call while another runs fails with kInvalidArgument. Different contexts run
/// side by side on the engine's threads. Keeps its engine alive.
class Context {
 public:
  /// The outputs for these inputs, both in the order of the plan's ports; blocks until done. The
  /// first run at new sizes makes their program. Fails, naming the input, what was found and what
  /// was expected, on a wrong number, dtype, rank or size.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);

  /// Bytes held for intermediate tensors: the most that any run so far has needed.
  int64_t arena_bytes() const;

  struct Impl;  // of the library
  explicit Context(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<Impl> impl_;
};

/// Immutable; copies share everything. Safe to use from several threads.
class Engine {
 public:
  /// Fails with kIncompatible, saying wanted and found, when the plan is for another machine.
  static Result<Engine> create(const Plan& plan, const EngineOptions& options = {});

  Context create_context() const;
  const Plan& plan() const;
  int threads() const;

  struct Impl;  // of the library
  explicit Engine(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace tilewright
