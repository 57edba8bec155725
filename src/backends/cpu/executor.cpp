#include "backends/cpu/executor.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "task/happens_before.h"

namespace tw::cpu {
namespace {

// Waking a thread and fetching its data back costs some microseconds; a chunk is worth that much.
constexpr double kWorthSharingNs = 4000;

/// What records have in common that can share what is prepared: kind, operands and payload.
struct SameTask {
  size_t operator()(const task::Record* record) const {
    const auto text = [](const auto& bytes) {
      return std::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes);
    };
    const std::hash<std::string_view> hash;
    return hash(text(record->operands)) * 31 + hash(text(record->payload)) + record->kind;
  }
  bool operator()(const task::Record* a, const task::Record* b) const {
    return a->kind == b->kind && std::memcmp(a->operands, b->operands, sizeof a->operands) == 0 &&
           std::memcmp(a->payload, b->payload, sizeof a->payload) == 0;
  }
};
using PreparedTasks = std::unordered_map<const task::Record*, const Prepared*, SameTask, SameTask>;

int64_t min_tiles(const task::Record& record, task::Slots slots, int64_t all_tiles) {
  const auto total_ns = static_cast<double>(std::max<int64_t>(1, estimate_ns(record, slots)));
  const auto n_tiles = static_cast<double>(std::max<int64_t>(1, all_tiles));
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::min(n_tiles, n_tiles * kWorthSharingNs / total_ns)));
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
  PreparedTasks by_task;
  executor->steps_.reserve(program.records.size());
  executor->place_of_.resize(program.records.size());
  for (const uint32_t r : task::seq_order(program)) {
    const task::Record& record = program.records[r];
    const bool is_idle = record.tile_begin == record.tile_end;  // nothing to prepare for
    if (is_idle || (runs && !runs(record))) {
      executor->place_of_[r] = static_cast<uint32_t>(executor->steps_.size());
      executor->steps_.push_back({&record, nullptr, 1});
      continue;
    }
    const int64_t n_tiles = task::n_tiles(record, program.slots);
    const bool is_whole = task::is_whole_op(record, n_tiles);  // no other record is of this op
    const auto known = is_whole ? by_task.end() : by_task.find(&record);
    const Prepared* prepared = known != by_task.end() ? known->second : nullptr;
    if (known == by_task.end()) {
      auto made = prepare(record, context);
      if (!made.ok()) return std::move(made).in(describe(program, record)).error();
      executor->prepared_.push_back(std::move(made).take());
      prepared = executor->prepared_.back().get();
      if (!is_whole) by_task.emplace(&record, prepared);
    }
    executor->place_of_[r] = static_cast<uint32_t>(executor->steps_.size());
    executor->steps_.push_back({&record, prepared, min_tiles(record, program.slots, n_tiles)});
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
