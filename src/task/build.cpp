// From a draft to a concrete program: numbers into slots, tiles to workers, then memory, waits and
// proof.
#include <algorithm>
#include <limits>
#include <map>

#include "task/happens_before.h"
#include "task/variants.h"
#include "task/verify_slots.h"

namespace tw::task {
namespace {

using Values = std::vector<int64_t>;

Result<int64_t> evaluate(const Dim& dim, const std::vector<std::string>& symbols,
                         const Values& values) {
  if (dim.is_constant()) return dim.constant();
  return dim.evaluate([&](std::string_view name) -> std::optional<int64_t> {
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i] == name) return values[i];
    return std::nullopt;
  });
}

/// Collects expressions without repeats, and the patches that name them.
class PatchTable {
 public:
  void add(SlotId slot, Patch::Field field, size_t dim, const Dim& expression) {
    if (expression.is_constant()) return;
    const auto [it, inserted] =
        known_.try_emplace(to_string(expression), static_cast<uint32_t>(expressions_.size()));
    if (inserted) expressions_.push_back(expression);
    patches_.push_back({field, static_cast<uint8_t>(dim), slot, it->second});
  }
  void move_into(Parametric& table) && {
    table.expressions = DimTable(std::move(expressions_), table.symbols);
    table.patches = std::move(patches_);
  }

 private:
  std::vector<Dim> expressions_;
  std::vector<Patch> patches_;
  std::map<std::string, uint32_t> known_;
};

void set_field(SlotInfo& slot, const Patch& patch, int64_t value) {
  switch (patch.field) {
    case Patch::Field::kDim:
      slot.dims[patch.dim] = value;
      return;
    case Patch::Field::kStride:
      slot.strides[patch.dim] = value;
      return;
    case Patch::Field::kOffsetBytes:
      slot.offset_bytes = value;
      return;
    case Patch::Field::kStorageBytes:
      slot.storage_bytes = value;
      return;
  }
}

Result<void> apply_patches(Program& program, const Values& values) {
  const std::vector<int64_t> numbers = TRY(program.parametric.expressions.evaluate(values));
  for (const Patch& patch : program.parametric.patches) {
    const int64_t value = numbers[patch.expression];
    if (patch.field == Patch::Field::kDim && value < 0)
      return error(Code::kInvalidArgument, "a dimension becomes ", value, ": ",
                   program.parametric.expressions[patch.expression]);
    set_field(program.slots[index(patch.slot)], patch, value);
  }
  return verify_sizes(program);
}

void make_slots(const Draft& draft, Program& program) {
  PatchTable patches;
  for (size_t i = 0; i < draft.slots.size(); ++i) {
    const Draft::Slot& from = draft.slots[i];
    SlotInfo slot = from.info;
    slot.rank = static_cast<uint8_t>(from.dims.size());
    const auto id = static_cast<SlotId>(i);
    if (slot.root != id) slot.flags |= SlotInfo::kView;
    const auto take = [&](Patch::Field field, size_t dim, const Dim& expression) {
      patches.add(id, field, dim, expression);
      if (expression.is_constant())
        set_field(slot, {field, static_cast<uint8_t>(dim), id, 0}, expression.constant());
    };
    for (size_t d = 0; d < from.dims.size(); ++d) {
      take(Patch::Field::kDim, d, from.dims[d]);
      take(Patch::Field::kStride, d, from.strides[d]);
    }
    if (slot.root == id)
      take(Patch::Field::kStorageBytes, 0, from.storage_bytes);
    else
      take(Patch::Field::kOffsetBytes, 0, from.offset_elems * Dim(size_bytes(slot.dtype)));
    program.slots.push_back(slot);
    program.slot_names.push_back(from.name);
  }
  std::move(patches).move_into(program.parametric);
}

/// A queue for each whole op: behind its latest producer when that is the last of its queue, else
/// on the queue that ends earliest.
std::vector<uint32_t> assign_queues(const Program& program, const std::vector<Record>& ops,
                                    uint32_t n_queues) {
  std::vector<int64_t> writer(program.slots.size(), -1), tail(n_queues, -1);
  std::vector<uint32_t> queue_of(ops.size(), 0);
  for (size_t i = 0; i < ops.size(); ++i) {
    int64_t best = -1;
    const std::span<const Role> roles = operand_roles(ops[i].kind);
    for (const SlotId id : ops[i].operands) {
      if (id == kNoSlot) continue;
      const int64_t producer = writer[index(program.slot(id).root)];
      if (producer > best && tail[queue_of[static_cast<size_t>(producer)]] == producer)
        best = producer;
    }
    const auto shortest =
        static_cast<uint32_t>(std::min_element(tail.begin(), tail.end()) - tail.begin());
    queue_of[i] = best >= 0 ? queue_of[static_cast<size_t>(best)] : shortest;
    tail[queue_of[i]] = static_cast<int64_t>(i);
    for (size_t o = 0; o < roles.size(); ++o)
      if (ops[i].operands[o] != kNoSlot && roles[o].mode != Mode::kRead)
        writer[index(program.slot(ops[i].operands[o]).root)] = static_cast<int64_t>(i);
  }
  return queue_of;
}

/// Records by queue; `queue_of` is parallel to `records`, which are in seq order.
void deal(Program& program, const std::vector<Record>& records,
          const std::vector<uint32_t>& queue_of, uint32_t n_queues, QueueKind kind) {
  program.records.clear();
  program.queues.clear();
  for (uint32_t q = 0; q < n_queues; ++q) {
    Queue queue;
    queue.kind = kind;
    queue.first = static_cast<uint32_t>(program.records.size());
    for (size_t i = 0; i < records.size(); ++i)
      if (queue_of[i] == q) program.records.push_back(records[i]);
    queue.count = static_cast<uint32_t>(program.records.size()) - queue.first;
    if (queue.count > 0 || n_queues == 1) program.queues.push_back(queue);
  }
}

Result<int64_t> tile_count(const Record& record, const Program& program, size_t op) {
  Result<void> sound = validate(record, program.slots, program.side);
  if (!sound.ok())
    return std::move(sound)
        .in(op < program.op_names.size() ? program.op_names[op] : "task")
        .error();
  const int64_t tiles = n_tiles(record, program.slots);
  if (tiles > std::numeric_limits<uint32_t>::max())
    return error(Code::kUnsupported, "an op of ", tiles, " tiles, at most 2^32 are supported");
  return tiles;
}

/// Whole ops, one record each, with the variants of their sizes.
Result<void> schedule_whole(Program& program, std::vector<Record> ops, uint32_t n_queues,
                            QueueKind kind) {
  for (size_t i = 0; i < ops.size(); ++i) {
    ops[i].seq = static_cast<uint32_t>(i);
    ops[i].tile_begin = 0;
    ops[i].tile_end = static_cast<uint32_t>(TRY(tile_count(ops[i], program, ops[i].op)));
  }
  pick_variants(program.parametric.variants, program.slots, ops);
  deal(program, ops, assign_queues(program, ops, n_queues), n_queues, kind);
  return {};
}

/// Every op's tiles in equal shares to the workers; small ops start at the worker after the last
/// one used, so that they spread.
Result<void> schedule_tiles(Program& program, const std::vector<Record>& ops, uint32_t workers,
                            QueueKind kind) {
  std::vector<Record> records;
  std::vector<uint32_t> queue_of;
  uint32_t next_worker = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const int64_t tiles = TRY(tile_count(ops[i], program, i));
    const auto shares = static_cast<uint32_t>(std::min<int64_t>(tiles, workers));
    for (uint32_t share = 0; share < shares; ++share) {
      Record record = ops[i];
      record.seq = static_cast<uint32_t>(records.size());
      record.tile_begin = static_cast<uint32_t>(tiles * share / shares);
      record.tile_end = static_cast<uint32_t>(tiles * (share + 1) / shares);
      records.push_back(record);
      queue_of.push_back((next_worker + share) % workers);
    }
    if (shares < workers) next_worker = (next_worker + shares) % workers;
  }
  deal(program, records, queue_of, workers, kind);
  return {};
}

Result<void> finish(Program& program) {
  TRY(plan_memory(program));
  TRY(derive_waits(program));
  return verify(program);
}

}  // namespace

Result<Program> build_program(const Draft& draft, const std::vector<std::string>& symbols,
                              const std::vector<int64_t>& sample, const BuildOptions& options) {
  Program program;
  program.parametric.symbols = symbols;
  program.parametric.sample = sample;
  make_slots(draft, program);
  program.side = draft.side;
  program.inputs = draft.inputs;
  program.outputs = draft.outputs;
  TRY(apply_patches(program, sample));
  std::vector<Record> ops;
  for (const Draft::Task& task : draft.tasks) {
    ops.push_back(task.record);
    ops.back().op = static_cast<uint32_t>(program.op_names.size());
    program.op_names.push_back(task.name);
    for (VariantRange range : task.variants) {
      range.op = ops.back().op;
      program.parametric.variants.push_back(range);
    }
  }
  if (options.workers > 1) {
    program.parametric = {};
    TRY(schedule_tiles(program, ops, static_cast<uint32_t>(options.workers), options.queue_kind));
  } else {
    TRY(schedule_whole(program, std::move(ops), static_cast<uint32_t>(options.queues),
                       options.queue_kind));
  }
  TRY(finish(program));
  return program;
}

Result<Program> instantiate(const Program& program, const std::vector<int64_t>& symbol_values) {
  if (symbol_values == program.parametric.sample) return program;
  if (symbol_values.size() != program.parametric.symbols.size())
    return error(Code::kInvalidArgument, symbol_values.size(), " sizes for ",
                 program.parametric.symbols.size(), " symbols");
  Program made = program;
  made.parametric.sample = symbol_values;
  TRY(apply_patches(made, symbol_values));
  std::vector<Record> ops;
  ops.reserve(program.records.size());
  for (const uint32_t r : seq_order(program))
    if (program.records[r].kind != Tasks::number_of<JoinTask>()) ops.push_back(program.records[r]);
  const Queue queue = program.queues.empty() ? Queue() : program.queues.front();
  TRY(schedule_whole(made, std::move(ops),
                     std::max<uint32_t>(1, static_cast<uint32_t>(program.queues.size())),
                     queue.kind));
  TRY(finish(made));
  return made;
}

Result<std::vector<int64_t>> bind_symbols(
    const Program& program, const std::vector<Dims>& input_dims,
    const std::vector<std::pair<std::string, int64_t>>& extra) {
  const Parametric& table = program.parametric;
  std::vector<std::optional<int64_t>> values(table.symbols.size());
  for (const auto& [name, value] : extra)
    for (size_t s = 0; s < table.symbols.size(); ++s)
      if (table.symbols[s] == name) values[s] = value;
  if (input_dims.size() != program.inputs.size())
    return error(Code::kInvalidArgument, "found ", input_dims.size(), " inputs, expected ",
                 program.inputs.size());
  for (const Patch& patch :
       table.patches) {  // bare symbols first, so that every expression can be checked afterwards
    if (patch.field != Patch::Field::kDim) continue;
    const auto input = std::find(program.inputs.begin(), program.inputs.end(), patch.slot);
    if (input == program.inputs.end()) continue;
    const auto symbol = table.expressions[patch.expression].as_symbol();
    if (!symbol) continue;
    const Dims& dims = input_dims[static_cast<size_t>(input - program.inputs.begin())];
    const auto s = static_cast<size_t>(
        std::find(table.symbols.begin(), table.symbols.end(), *symbol) - table.symbols.begin());
    if (patch.dim < dims.size() && !values[s]) values[s] = dims[patch.dim];
  }
  std::vector<int64_t> bound;
  for (size_t s = 0; s < values.size(); ++s) {
    if (!values[s])
      return error(Code::kInvalidArgument, "no input determines '", table.symbols[s], "'");
    bound.push_back(*values[s]);
  }
  for (size_t i = 0; i < input_dims.size(); ++i) {
    const SlotId id = program.inputs[i];
    const std::string name =
        index(id) < program.slot_names.size() ? program.slot_names[index(id)] : cat("#", i);
    if (input_dims[i].size() != program.slot(id).rank)
      return error(Code::kInvalidArgument, "input '", name, "' has rank ", input_dims[i].size(),
                   ", expected ", program.slot(id).rank);
    Dims expected = program.slot(id).shape();
    for (const Patch& patch : table.patches)
      if (patch.slot == id && patch.field == Patch::Field::kDim)
        expected[patch.dim] =
            TRY(evaluate(table.expressions[patch.expression], table.symbols, bound));
    if (!(expected == input_dims[i]))
      return error(Code::kInvalidArgument, "input '", name, "' is [", join(input_dims[i], ","),
                   "], expected [", join(expected, ","), "]");
  }
  return bound;
}

}  // namespace tw::task
