#include "backends/cpu/executor.h"

#include <algorithm>
#include <mutex>

namespace tw::cpu {
namespace {

// Waking a thread and fetching its data back costs some microseconds; a chunk is worth that much.
constexpr int64_t kWorthSharingNs = 4000;

/// Two records with equal keys can share what is prepared.
std::string prepared_key(const task::Record& record) {
  std::string key(1, static_cast<char>(record.kind));
  key.append(reinterpret_cast<const char*>(record.operands), sizeof record.operands);
  key.append(reinterpret_cast<const char*>(record.payload), sizeof record.payload);
  return key;
}

int64_t min_tiles(const task::Record& record, task::Slots slots) {
  const int64_t total_ns = estimate_ns(record, slots);
  const int64_t n_tiles = std::max<int64_t>(1, task::n_tiles(record, slots));
  return std::max<int64_t>(1, n_tiles * kWorthSharingNs / std::max<int64_t>(1, total_ns));
}

/// The error of the lowest tile, whichever thread met it.
class FirstError {
 public:
  void add(int64_t tile, const Result<void>& result) {
    if (result.ok()) return;
    const std::lock_guard lock(mutex_);
    if (tile_ >= 0 && tile_ <= tile) return;
    tile_ = tile;
    result_ = result;
  }
  Result<void> take() { return std::move(result_); }

 private:
  std::mutex mutex_;
  int64_t tile_ = -1;
  Result<void> result_;
};

Result<void> run_step(const Executor& executor, const Executor::Step& step,
                      std::span<std::byte* const> addresses, Workspace& workspace) {
  const task::Record& record = *step.record;
  FirstError failure;
  const int64_t first = record.tile_begin;
  workspace.pool().parallel_for(
      int64_t{record.tile_end} - first,
      [&](int64_t begin, int64_t end, int worker) {
        const TaskContext context{executor.program().slots,   addresses,
                                  executor.program().side,    &executor.kernels(),
                                  &workspace.scratch(worker), step.prepared};
        failure.add(begin, run_tiles(record, context, first + begin, first + end));
      },
      step.min_tiles);
  return failure.take();
}

Result<void> check_waits(const Executor& executor, const task::Record& record,
                         const std::vector<int32_t>& counters) {
  for (size_t i = 0; i < record.n_waits; ++i) {
    const task::Wait& wait = record.waits[i];
    const int32_t found = counters[wait.counter];
    if (is_met(wait, found)) continue;
    return error(Code::kInternal, describe(executor.program(), record), ": waits for counter ",
                 wait.counter, ": found ", found, ", expected ", wait.target);
  }
  return {};
}

}  // namespace

std::string describe(const task::Program& program, const task::Record& record) {
  std::string text = cat("task ", record.seq, " (", task::kind_name(record.kind));
  if (record.op < program.op_names.size()) text += cat(" '", program.op_names[record.op], "'");
  return text + ")";
}

Result<std::unique_ptr<Executor>> Executor::make(
    const task::Program& program, std::byte* weights, const Kernels& kernels,
    const std::function<bool(const task::Record&)>& runs) {
  std::unique_ptr<Executor> executor(new Executor(program, kernels));
  const std::vector<std::byte*> addresses =
      partial_addresses(program, {.arena = nullptr, .weights = weights, .bound = {}});
  const TaskContext context{program.slots, addresses, program.side, &kernels, nullptr, nullptr};
  for (const task::Record& record : program.records) {
    if (runs && !runs(record)) {
      executor->steps_.push_back({&record, nullptr, 1});
      continue;
    }
    const auto [it, is_new] = executor->prepared_.try_emplace(prepared_key(record));
    if (is_new) {
      auto prepared = prepare(record, context);
      if (!prepared.ok()) return std::move(prepared).in(describe(program, record)).error();
      it->second = std::move(prepared).take();
    }
    executor->steps_.push_back({&record, it->second.get(), min_tiles(record, program.slots)});
  }
  std::sort(executor->steps_.begin(), executor->steps_.end(),
            [](const Step& a, const Step& b) { return a.record->seq < b.record->seq; });
  executor->place_of_.resize(program.records.size());
  for (size_t i = 0; i < executor->steps_.size(); ++i) {
    const auto record = executor->steps_[i].record - program.records.data();
    executor->place_of_[static_cast<size_t>(record)] = static_cast<uint32_t>(i);
  }
  return executor;
}

Result<void> run_records(const Executor& executor, uint32_t first, uint32_t last,
                         std::span<std::byte* const> addresses, Workspace& workspace) {
  for (uint32_t i = first; i < last; ++i) {
    const Executor::Step& step = executor.steps()[i];
    TRY(run_step(executor, step, addresses, workspace)
            .in(describe(executor.program(), *step.record)));
  }
  return {};
}

Result<void> run_sequence(const Executor& executor, std::span<std::byte* const> addresses,
                          Workspace& workspace) {
  std::vector<int32_t>& counters = workspace.counters();
  counters.assign(executor.program().n_counters, 0);
  for (const Executor::Step& step : executor.steps()) {
    // In seq order every wait is met already; one that is not is a mistake in the program.
    TRY(check_waits(executor, *step.record, counters));
    Result<void> result = run_step(executor, step, addresses, workspace);
    if (!result.ok()) return std::move(result).in(describe(executor.program(), *step.record));
    if (step.record->signal != task::kNoCounter) ++counters[step.record->signal];
  }
  return {};
}

Result<void> Executor::run(std::span<std::byte* const> addresses, Workspace& workspace,
                           const RunOptions& options) const {
  CHECK(addresses.size() == program_.slots.size(), "the address table has a row for each slot");
  switch (options.order) {
    case Order::kSequence:
      return run_sequence(*this, addresses, workspace);
    case Order::kQueues:
      return run_queues(*this, addresses, workspace);
    case Order::kRandom:
      return run_random(*this, addresses, workspace, options);
    case Order::kChecked:
      return run_checked(*this, addresses, workspace);
  }
  return error(Code::kInvalidArgument, "unknown order of execution");
}

}  // namespace tw::cpu
