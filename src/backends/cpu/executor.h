// executor.h: runs a concrete program on the CPU, in one of four ways. What a program means is what
// this does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/address_table.h"
#include "backends/cpu/core.h"
#include "base/thread_pool.h"

namespace tw::cpu {

enum class Order : uint8_t {
  kSequence,  // records by seq, the tiles of each shared by the threads
  kQueues,    // queues side by side, a thread takes any whose next record may run
  kRandom,    // one thread, a seeded choice among the records that may run, in poisoned memory
  kChecked,   // by seq, one tile at a time, each alone with what it declares to read
};

struct RunOptions {
  Order order = Order::kSequence;
  uint64_t seed = 0;           // kRandom
  std::byte* arena = nullptr;  // kRandom: the memory to poison
};

/// What one run at a time needs and the next can use again: threads and their scratch memory.
class Workspace {
 public:
  /// The pool is shared and outlives the workspace.
  explicit Workspace(ThreadPool& pool) : pool_(pool), scratch_(static_cast<size_t>(pool.size())) {}
  ThreadPool& pool() { return pool_; }
  Scratch& scratch(int worker) { return scratch_[static_cast<size_t>(worker)]; }
  std::vector<int32_t>& counters() { return counters_; }

 private:
  ThreadPool& pool_;
  std::vector<Scratch> scratch_;
  std::vector<int32_t> counters_;
};

/// A program with everything that can be worked out before its first run. Immutable: any number of
/// runs at once, each with its own workspace and memory.
class Executor {
 public:
  /// One record as the executors see it.
  struct Step {
    const task::Record* record = nullptr;
    const Prepared* prepared = nullptr;
    int64_t min_tiles = 1;  // fewest tiles worth handing to another thread
  };

  /// `program` has passed the verifier; it and the weights outlive the executor. `weights` is the
  /// start of space weight.
  /// With `runs`, only those records are ever run here (run_records): the others are a device's.
  static Result<std::unique_ptr<Executor>> make(
      const task::Program& program, std::byte* weights, const Kernels& kernels,
      const std::function<bool(const task::Record&)>& runs = {});

  /// `addresses` as relocate() gives them. Errors name the task.
  Result<void> run(std::span<std::byte* const> addresses, Workspace& workspace,
                   const RunOptions& options) const;

  const task::Program& program() const { return program_; }
  const Kernels& kernels() const { return kernels_; }
  /// In seq order.
  const std::vector<Step>& steps() const { return steps_; }
  /// By record index: its place in steps().
  const std::vector<uint32_t>& place_of() const { return place_of_; }

 private:
  Executor(const task::Program& program, const Kernels& kernels)
      : program_(program), kernels_(kernels) {}

  const task::Program& program_;
  const Kernels& kernels_;
  std::vector<Step> steps_;
  std::vector<uint32_t> place_of_;
  std::vector<std::unique_ptr<Prepared>> prepared_;  // tiles of one op share what was prepared
};

/// Records [first, last), counted in seq order; what they wait for is done.
Result<void> run_records(const Executor& executor, uint32_t first, uint32_t last,
                         std::span<std::byte* const> addresses, Workspace& workspace);

/// Whether a counter that stands at `found` meets the wait. Targets may wrap around.
inline bool is_met(const task::Wait& wait, int32_t found) {
  return static_cast<int32_t>(static_cast<uint32_t>(found) - static_cast<uint32_t>(wait.target)) >=
         0;
}

/// "task 12 (gemm 'layers.0/q')".
std::string describe(const task::Program& program, const task::Record& record);

/// One way of running each; executor.cpp chooses.
Result<void> run_sequence(const Executor& executor, std::span<std::byte* const> addresses,
                          Workspace& workspace);
Result<void> run_queues(const Executor& executor, std::span<std::byte* const> addresses,
                        Workspace& workspace);
Result<void> run_random(const Executor& executor, std::span<std::byte* const> addresses,
                        Workspace& workspace, const RunOptions& options);
Result<void> run_checked(const Executor& executor, std::span<std::byte* const> addresses,
                         Workspace& workspace);

}  // namespace tw::cpu
