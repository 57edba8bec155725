// engine.h: a plan made ready to run: programs for the sizes that came up, their memory, the
// threads. Engine is immutable to its users and thread-safe; Context belongs to one caller at a
// time.
#pragma once

#include <atomic>
#include <limits>
#include <list>
#include <map>
#include <mutex>

#include "backends/cpu/executor.h"
#include "backends/device/device.h"
#include "base/tensor.h"
#include "plan/plan.h"

namespace tw::runtime {

struct EngineOptions {
  int threads = 0;              // 0: one a core
  int spin_pauses = 500;        // how long a thread without work watches before it sleeps
  std::optional<cpu::Isa> isa;  // nothing: as the plan was packed, else the best of this machine
  size_t max_instances =
      256;  // programs kept for sizes that came up before; the longest unused goes first
};

/// One program at one set of sizes.
struct Instance {
  task::Program program;
  std::unique_ptr<cpu::Executor> executor;  // of a device plan: of the tasks that run on the host
  std::unique_ptr<backends::DeviceProgram> on_device;  // of a device plan
};

class Engine {
 public:
  /// Fails with kIncompatible when the plan's target or instruction set is not this machine's
  /// (wanted and found).
  static Result<std::shared_ptr<const Engine>> make(plan::Plan plan, const EngineOptions& options);

  const plan::Plan& plan() const { return plan_; }
  cpu::Isa isa() const { return isa_; }
  ThreadPool& pool() const { return *pool_; }
  /// Null for plans of the CPU.
  const backends::Device* device() const { return device_.get(); }

  /// The program for these sizes, made when they are new. Thread-safe.
  Result<std::shared_ptr<const Instance>> instance(uint32_t program,
                                                   const std::vector<int64_t>& symbol_values) const;
  /// How many instances were made since the engine was.
  int64_t instances_made() const { return instances_made_.load(); }

 private:
  using Key = std::pair<uint32_t, std::vector<int64_t>>;
  struct Entry {
    std::shared_ptr<const Instance> instance;
    std::list<Key>::iterator place;
  };

  explicit Engine(plan::Plan plan) : plan_(std::move(plan)) {}

  Result<void> prepare(Instance& instance) const;

  plan::Plan plan_;
  std::unique_ptr<backends::Device> device_;
  cpu::Isa isa_ = cpu::Isa::kSse42;
  size_t max_instances_ = 0;
  std::unique_ptr<ThreadPool> pool_;
  mutable std::mutex mutex_;
  mutable std::map<Key, Entry> instances_;
  mutable std::list<Key> recent_;  // front: used last
  mutable std::atomic<int64_t> instances_made_{0};
};

struct RunOptions {
  cpu::Order order = cpu::Order::kSequence;
  uint64_t seed = 0;
  /// Of one Loop: past that the run is an error, since a model may ask for a loop without end.
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
};

class Context {
 public:
  explicit Context(std::shared_ptr<const Engine> engine)
      : engine_(std::move(engine)), workspace_(engine_->pool()) {}

  /// What the last run's one program takes on the device, `n` times in a row, in microseconds each.
  /// Fails for CPU plans, and where the model is more than one program or the host takes part.
  Result<backends::RunTimes> time_on_device(int n);
  /// The same, task by task.
  Result<std::vector<backends::TaskTime>> time_tasks(int n);
  /// The program that they time.
  const task::Program& last_program() const { return cached_.begin()->second.instance->program; }
  /// Null before the first run, and for CPU plans.
  const backends::DeviceSession* session() const { return session_.get(); }

  /// The outputs for these inputs, both in the order of the plan's signature. Fails, naming the
  /// input, on a wrong count, type or shape, and with kInvalidArgument when another call is
  /// running.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs,
                                  const RunOptions& options = {});

  /// Bytes that this context holds for intermediate tensors.
  int64_t arena_bytes() const { return arena_.dims().empty() ? 0 : arena_.bytes(); }
  const Engine& engine() const { return *engine_; }

 private:
  friend class ProcedureRun;
  Result<const Instance*> only_instance() const;
  /// What a Run step used last: the same sizes come again and again.
  struct Cached {
    std::vector<Dims> input_dims;
    std::vector<std::pair<std::string, int64_t>> symbols;
    std::shared_ptr<const Instance> instance;
  };

  std::shared_ptr<const Engine> engine_;
  cpu::Workspace workspace_;
  Tensor arena_;
  std::map<uint32_t, Cached> cached_;  // by program
  std::unique_ptr<backends::DeviceSession> session_;
  std::atomic<bool> running_{false};
};

}  // namespace tw::runtime
