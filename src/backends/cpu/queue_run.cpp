// queue_run.cpp: programs by their queues: threads that take any queue whose next record may run,
// and the same with one thread and a seeded choice. Since waits look at lower seq only and queues
// ascend, the unfinished record of lowest seq always may run: a legal program cannot get stuck
// whatever the number of threads.
#include <atomic>
#include <cstring>
#include <mutex>
#include <random>

#include "backends/cpu/executor.h"

namespace tw::cpu {
namespace {

class QueueRun {
 public:
  QueueRun(const Executor& executor, std::span<std::byte* const> addresses, Workspace& workspace)
      : executor_(executor),
        program_(executor.program()),
        addresses_(addresses),
        workspace_(workspace),
        counters_(program_.n_counters),
        heads_(program_.queues.size()) {}

  size_t n_queues() const { return heads_.size(); }
  bool is_done(size_t queue) const {
    return heads_[queue].next.load(std::memory_order_acquire) >= program_.queues[queue].count;
  }

  /// Whether the queue has a next record and its waits are met.
  bool may_run(size_t queue) const {
    return !is_done(queue) && first_unmet(head(queue)) == nullptr;
  }

  /// Runs the next record, which may run, and signals.
  void run_head(size_t queue, int worker) {
    const task::Record& record = head(queue);
    const auto index = static_cast<size_t>(&record - program_.records.data());
    const Executor::Step& step = executor_.steps()[executor_.place_of()[index]];
    const TaskContext context{program_.slots,
                              addresses_,
                              program_.side,
                              &executor_.kernels(),
                              &workspace_.scratch(worker),
                              step.prepared};
    const Result<void> result = run_tiles(record, context, record.tile_begin, record.tile_end);
    if (!result.ok()) fail(record.seq, Result<void>(result).in(describe(program_, record)));
    if (record.signal != task::kNoCounter) {
      // Release: who sees the count sees what the task wrote.
      counters_[record.signal].fetch_add(1, std::memory_order_acq_rel);
    }
    heads_[queue].next.fetch_add(1, std::memory_order_acq_rel);
  }

  bool claim(size_t queue) { return !heads_[queue].is_taken.exchange(true); }
  void release(size_t queue) { heads_[queue].is_taken.store(false); }

  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  void fail(uint32_t seq, Result<void> result) {
    const std::lock_guard lock(mutex_);
    if (failed_.load() && seq >= failed_seq_) return;
    failed_seq_ = seq;
    failure_ = std::move(result);
    failed_.store(true);
  }
  Result<void> take_failure() { return std::move(failure_); }

  /// Nothing may run although queues are not empty: says what the earliest record waits for.
  void fail_stuck() {
    const task::Record* earliest = nullptr;
    for (size_t q = 0; q < heads_.size(); ++q) {
      if (!is_done(q) && (earliest == nullptr || head(q).seq < earliest->seq)) earliest = &head(q);
    }
    if (earliest == nullptr) return;
    const task::Wait* wait = first_unmet(*earliest);
    if (wait == nullptr) return;
    fail(earliest->seq, error(Code::kInternal, describe(program_, *earliest),
                              ": waits for counter ", wait->counter, ": found ",
                              counters_[wait->counter].load(), ", expected ", wait->target));
  }

 private:
  struct Head {
    std::atomic<uint32_t> next{0};  // records done
    std::atomic<bool> is_taken{false};
  };

  const task::Record& head(size_t queue) const {
    return program_
        .records[program_.queues[queue].first + heads_[queue].next.load(std::memory_order_acquire)];
  }
  const task::Wait* first_unmet(const task::Record& record) const {
    for (size_t i = 0; i < record.n_waits; ++i) {
      const task::Wait& wait = record.waits[i];
      const int32_t found = counters_[wait.counter].load(std::memory_order_acquire);
      if (!is_met(wait, found)) return &wait;
    }
    return nullptr;
  }

  const Executor& executor_;
  const task::Program& program_;
  std::span<std::byte* const> addresses_;
  Workspace& workspace_;
  std::vector<std::atomic<int32_t>> counters_;
  std::vector<Head> heads_;
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
  uint32_t failed_seq_ = 0;
  Result<void> failure_;
};

// Looks around the queues without finding work before a thread gives its time to others.
constexpr int kRoundsBeforeYield = 64;

/// What one thread does until all queues are empty. `n_running` counts threads with a record in
/// hand.
void work(QueueRun& run, std::atomic<int>& n_running, std::atomic<uint64_t>& n_finished,
          int worker) {
  int idle_rounds = 0;
  while (!run.failed()) {
    const uint64_t finished_before = n_finished.load();
    bool all_done = true, found = false;
    for (size_t i = 0; i < run.n_queues() && !run.failed(); ++i) {
      const size_t queue = (i + static_cast<size_t>(worker)) % run.n_queues();
      if (run.is_done(queue)) continue;
      all_done = false;
      n_running.fetch_add(1);
      if (run.claim(queue)) {
        for (; run.may_run(queue) && !run.failed(); n_finished.fetch_add(1)) {
          run.run_head(queue, worker);
          found = true;
        }
        run.release(queue);
      }
      n_running.fetch_sub(1);
    }
    if (all_done) return;
    idle_rounds = found ? 0 : idle_rounds + 1;
    if (idle_rounds < kRoundsBeforeYield) continue;
    // Stuck only if nobody works and nobody has finished anything since this round began.
    if (n_running.load() == 0 && n_finished.load() == finished_before) run.fail_stuck();
    std::this_thread::yield();
  }
}

}  // namespace

Result<void> run_queues(const Executor& executor, std::span<std::byte* const> addresses,
                        Workspace& workspace) {
  QueueRun run(executor, addresses, workspace);
  std::atomic<int> n_running{0};
  std::atomic<uint64_t> n_finished{0};
  workspace.pool().parallel_for(workspace.pool().size(), [&](int64_t, int64_t, int worker) {
    work(run, n_running, n_finished, worker);
  });
  return run.take_failure();
}

Result<void> run_random(const Executor& executor, std::span<std::byte* const> addresses,
                        Workspace& workspace, const RunOptions& options) {
  const task::Program& program = executor.program();
  if (options.arena != nullptr && program.arena_bytes > 0) {
    std::memset(options.arena, 0xff, static_cast<size_t>(program.arena_bytes));
  }
  QueueRun run(executor, addresses, workspace);
  std::mt19937_64 random(options.seed);
  std::vector<size_t> ready;
  while (!run.failed()) {
    ready.clear();
    bool all_done = true;
    for (size_t q = 0; q < run.n_queues(); ++q) {
      all_done = all_done && run.is_done(q);
      if (run.may_run(q)) ready.push_back(q);
    }
    if (all_done) break;
    if (ready.empty()) {
      run.fail_stuck();
    } else {
      run.run_head(ready[random() % ready.size()], 0);
    }
  }
  return run.take_failure();
}

}  // namespace tw::cpu
