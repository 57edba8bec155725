// program.h: slots, tasks, counters: one complete schedule. Every program that is verified or
// executed is concrete; a parametric program is a concrete one (at sample sizes) plus the
// expressions that make it anew for other sizes.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/dim_table.h"
#include "task/record.h"

namespace tw::task {

enum class QueueKind : uint8_t {
  kCpu,
  kStream,
  kSm,
  kCopy
};

/// Records [first, first + count) of the program, ascending in seq. Queues run side by side, a
/// queue runs in order.
struct Queue {
  QueueKind kind = QueueKind::kCpu;
  uint8_t place = 0;
  uint16_t reserved = 0;
  uint32_t first = 0;
  uint32_t count = 0;
};

/// One number of a slot that follows from the symbols.
struct Patch {
  enum class Field : uint8_t {
    kDim,
    kStride,
    kOffsetBytes,
    kStorageBytes
  };
  Field field = Field::kDim;
  uint8_t dim = 0;
  SlotId slot = kNoSlot;
  uint32_t expression = 0;  // index into Parametric::expressions
};

/// The variant of an op's records at sizes up to a bound (variants.h says what size that is); where
/// the range before ends, this one begins.
struct VariantRange {
  static constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();
  int64_t up_to_elems = kNoBound;  // included
  uint32_t op = 0;                 // Record::op
  uint8_t variant = 0;
  uint8_t reserved[3] = {};
  bool is_last() const { return up_to_elems == kNoBound; }
};
static_assert(sizeof(VariantRange) == 16);

struct Parametric {
  std::vector<std::string> symbols;
  std::vector<int64_t> sample;  // the values that the concrete records were made with
  DimTable expressions;
  std::vector<Patch> patches;
  /// By op, then ascending; the last of an op has no bound. Ops that are not here keep the variant
  /// that their records have.
  std::vector<VariantRange> variants;
};

/// A list of names that copies of a program share; a copy of its own is made before it changes.
class Names {
 public:
  Names() = default;
  Names(std::vector<std::string> names)  // NOLINT(google-explicit-constructor)
      : list_(std::make_shared<std::vector<std::string>>(std::move(names))) {}
  Names(std::initializer_list<std::string> names) : Names(std::vector<std::string>(names)) {}

  const std::vector<std::string>& list() const;
  size_t size() const { return list_ ? list_->size() : 0; }
  const std::string& operator[](size_t i) const { return (*list_)[i]; }
  void push_back(std::string name);

 private:
  std::shared_ptr<std::vector<std::string>> list_;
};

struct Program {
  std::vector<SlotInfo> slots;
  std::vector<Record> records;  // by queue, then by seq
  std::vector<Queue> queues;
  std::vector<std::byte> side;  // elementwise programs
  uint32_t n_counters = 0;
  int64_t arena_bytes = 0;
  std::vector<SlotId> inputs,
      outputs;            // kInput and kOutput roots in the order of the program's signature
  Parametric parametric;  // no symbols: the program is as it is

  // Names may be stripped; nothing that runs reads them.
  Names slot_names;
  Names op_names;  // Record::op indexes this

  const SlotInfo& slot(SlotId id) const { return slots[index(id)]; }
  bool is_parametric() const { return !parametric.symbols.empty(); }
};

/// A program before tiles, queues, memory and waits: whole-op tasks in order, slots with symbolic
/// numbers. What lowering makes.
struct Draft {
  struct Slot {
    SlotInfo info;  // space, dtype, layout, flags, place, root; numbers come from the fields below
    std::vector<Dim> dims, strides;
    Dim offset_elems;   // views: from the root's start
    Dim storage_bytes;  // roots
    std::string name;
  };
  struct Task {
    Record record;  // kind, operands, payload; flags and variant of what executes it
    std::string name;
    std::vector<VariantRange> variants = {};  // for other sizes; their op is set by build_program
  };
  std::vector<Slot> slots;
  std::vector<Task> tasks;
  std::vector<std::byte> side;
  std::vector<SlotId> inputs, outputs;
};

struct BuildOptions {
  /// 1: whole-op tasks on `queues` queues; more: every op is cut into tiles that are dealt to this
  /// many workers.
  int workers = 1;
  /// Queues for whole-op programs; branches spread over them.
  int queues = 4;
  QueueKind queue_kind = QueueKind::kCpu;
};

/// A concrete program for the sizes `sample` (one value a symbol, in the order of first use in
/// draft.inputs): places memory, deals tasks to queues, derives waits, verifies. With workers == 1
/// it carries the patches that make it parametric.
Result<Program> build_program(const Draft& draft, const std::vector<std::string>& symbols,
                              const std::vector<int64_t>& sample, const BuildOptions& options);

/// The same program for other sizes: copy, patch, pick variants, place memory, derive waits,
/// verify. Under 1 ms for 500 tasks.
Result<Program> instantiate(const Program& program, const std::vector<int64_t>& symbol_values);

/// Symbol values from the dims of the inputs (in the program's order). Fails when a constant dim
/// differs, the same symbol gets two values, or a symbol stays unknown; the sentence names the
/// input, what was found and what was expected. `extra` gives symbols that no input names (bound
/// from data by an earlier segment).
Result<std::vector<int64_t>> bind_symbols(
    const Program& program, const std::vector<Dims>& input_dims,
    const std::vector<std::pair<std::string, int64_t>>& extra);

/// Offsets of arena roots so that buffers alive together share no byte; fills offset_bytes and
/// arena_bytes.
Result<void> plan_memory(Program& program);
/// The most bytes alive at one task: no placement can need less.
int64_t liveness_lower_bound(const Program& program);

/// Waits and signals from the boxes that tasks touch, reuse of memory included.
Result<void> derive_waits(Program& program);

/// Proves a program: see verify.cpp for the rules. The sentence names the task.
Result<void> verify(const Program& program);

/// One line a slot, one a task.
std::string print(const Program& program);

}  // namespace tw::task
