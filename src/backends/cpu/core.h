// core.h: runs tiles of one task. The executors (executor.h) decide what runs when; this decides
// nothing.
#pragma once

#include <memory>
#include <span>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/scratch.h"
#include "base/result.h"
#include "task/record.h"

namespace tw::cpu {

/// What a task kind works out once from its record and its slots: decoded elementwise programs,
/// weights in panels. Immutable once made, shared by every tile and every thread.
struct Prepared {
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  virtual ~Prepared() = default;
};

struct TaskContext {
  task::Slots slots;
  /// By slot: where the element with all coordinates 0 is.
  std::span<std::byte* const> addresses;
  /// The program's side table.
  std::span<const std::byte> side;
  const Kernels* kernels = nullptr;
  /// Of this worker only.
  Scratch* scratch = nullptr;
  /// Of the record that runs; null makes run_tiles prepare for itself each time.
  const Prepared* prepared = nullptr;

  const task::SlotInfo& slot(task::SlotId id) const { return slots[task::index(id)]; }
};

/// Fails when the packed weight `id` is not `n_floats` floats of storage: its kernel would read
/// past it; or when the task does not compute in f32. Nothing to check for one that is not packed.
Result<void> check_panels(const TaskContext& context, task::SlotId id, task::Lane lane,
                          int64_t n_floats);

/// Whether every element of an operand is stored, none repeated: a copy of it is then no larger
/// than what the plan brought.
bool is_stored_in_full(const TaskContext& context, task::SlotId id);

/// Reads only slots that are immutable and have an address; `context.scratch` and
/// `context.prepared` are not used. Null for kinds with nothing to prepare.
Result<std::unique_ptr<Prepared>> prepare(const task::Record& record, const TaskContext& context);

/// Tiles [tile_begin, tile_end) of the record's whole op. The bits of an element of the result do
/// not depend on how the tiles are split over calls. Fails only for what data can get wrong (an
/// index out of range), with a sentence; what it has written by then is of no use.
Result<void> run_tiles(const task::Record& record, const TaskContext& context, int64_t tile_begin,
                       int64_t tile_end);

/// About how many nanoseconds the whole op takes on one thread: for deciding what is worth sharing.
int64_t estimate_ns(const task::Record& record, task::Slots slots);

}  // namespace tw::cpu
