#include "plan_change.h"

#include <algorithm>

namespace tw::fuzz {
namespace {

using task::Program;
using task::Record;
using task::SlotId;
using task::SlotInfo;

template <class T>
T& any(std::vector<T>& list, Random& random) {
  return list[below(random, list.size())];
}

/// Near `value`, or anything.
template <class T>
T number_near(T value, Random& random) {
  if (one_in(random, 3)) return static_cast<T>(odd_number(random));
  return static_cast<T>(static_cast<uint64_t>(value) + below(random, 5) - 2);
}

template <class T>
void change_number(T& value, Random& random) {
  value = number_near(value, random);
}

SlotId any_slot(const Program& program, Random& random) {
  return one_in(random, 8) ? task::kNoSlot
                           : static_cast<SlotId>(below(random, program.slots.size() + 1));
}

template <class E>
E any_enum(Random& random, size_t count) {
  return static_cast<E>(one_in(random, 16) ? 255 : below(random, count + 1));
}

void change_record(Program& program, Random& random) {
  if (program.records.empty()) return;
  Record& record = any(program.records, random);
  switch (below(random, 11)) {
    case 0:
      record.kind = any_enum<uint8_t>(random, task::Tasks::kCount);
      return;
    case 1:
      record.variant = static_cast<uint8_t>(below(random, 256));
      return;
    case 2:
      record.n_waits = any_enum<uint8_t>(random, task::kMaxWaits);
      return;
    case 3:
      change_number(record.seq, random);
      return;
    case 4:
      change_number(one_in(random, 2) ? record.tile_begin : record.tile_end, random);
      return;
    case 5:
      change_number(record.waits[below(random, task::kMaxWaits)].counter, random);
      return;
    case 6:
      change_number(record.waits[below(random, task::kMaxWaits)].target, random);
      return;
    case 7:
      change_number(one_in(random, 2) ? record.signal : record.op, random);
      return;
    case 8:
      record.operands[below(random, task::kMaxOperands)] = any_slot(program, random);
      return;
    default:
      record.payload[below(random, task::kPayloadBytes)] =
          static_cast<std::byte>(number_near<uint8_t>(2, random));
  }
}

void change_records(Program& program, Random& random) {
  if (program.records.empty()) return;
  const auto at =
      program.records.begin() + static_cast<std::ptrdiff_t>(below(random, program.records.size()));
  switch (below(random, 3)) {
    case 0:
      std::iter_swap(at, program.records.begin());
      return;
    case 1:
      program.records.erase(at);
      return;
    default:
      program.records.insert(at, Record(*at));
  }
}

/// A slot whose rank was changed before may state any.
size_t dims_in(const SlotInfo& slot) { return std::min<size_t>(slot.rank, kMaxRank); }

void change_slot(Program& program, Random& random) {
  if (program.slots.empty()) return;
  SlotInfo& slot = any(program.slots, random);
  const size_t n_dims = dims_in(slot);
  const size_t d = below(random, one_in(random, 4) || n_dims == 0 ? kMaxRank : n_dims);
  switch (below(random, 10)) {
    case 0:
      slot.space = any_enum<task::Space>(random, 5);
      return;
    case 1:
      slot.dtype = any_enum<DType>(random, kDTypeCount);
      return;
    case 2:
      slot.layout = any_enum<task::Layout>(random, 2);
      return;
    case 3:
      slot.rank = any_enum<uint8_t>(random, kMaxRank);
      return;
    case 4:
      slot.flags = static_cast<uint8_t>(below(random, 5));
      return;
    case 5:
      slot.root = any_slot(program, random);
      return;
    case 6:
      change_number(slot.dims[d], random);
      return;
    case 7:
      change_number(slot.strides[d], random);
      return;
    case 8:
      change_number(slot.offset_bytes, random);
      return;
    default:
      change_number(slot.storage_bytes, random);
  }
}

/// One size becomes another in every slot: what fitted together still does.
void change_size(Program& program, Random& random) {
  if (program.slots.empty()) return;
  const SlotInfo& model = any(program.slots, random);
  if (dims_in(model) == 0) return;
  const int64_t old = model.dims[below(random, dims_in(model))];
  const int64_t now = one_in(random, 4) ? 0 : static_cast<int64_t>(below(random, 9));
  for (SlotInfo& slot : program.slots)
    for (size_t d = 0; d < dims_in(slot); ++d)
      if (slot.dims[d] == old) slot.dims[d] = now;
}

/// Storage and all its views become another type.
void change_dtype(Program& program, Random& random) {
  if (program.slots.empty()) return;
  const SlotId root = any(program.slots, random).root;
  const auto dtype = static_cast<DType>(below(random, kDTypeCount));
  for (SlotInfo& slot : program.slots)
    if (slot.root == root) slot.dtype = dtype;
}

void change_variants(std::vector<task::VariantRange>& ranges, Random& random) {
  if (ranges.empty() || one_in(random, 8)) {
    task::VariantRange made;
    made.op = static_cast<uint32_t>(below(random, 4));
    ranges.insert(ranges.begin() + static_cast<std::ptrdiff_t>(below(random, ranges.size() + 1)),
                  made);
    return;
  }
  task::VariantRange& range = any(ranges, random);
  switch (below(random, 4)) {
    case 0:
      change_number(range.up_to_elems, random);
      return;
    case 1:
      change_number(range.op, random);
      return;
    case 2:
      range.variant = static_cast<uint8_t>(below(random, 256));
      return;
    default:
      std::swap(range, any(ranges, random));
  }
}

void change_parametric(Program& program, Random& random) {
  constexpr const char* kExpressions[] = {
      "n",         "n*n",          "0 - n",     "floor_div(n, n - n)", "1000000000*n*n*n",
      "mod(8, n)", "unknown",      "max(n, 7)", "select(n, 3, 5)",     "9223372036854775807*n",
      "n + 1",     "ceil_div(n,2)"};
  task::Parametric& table = program.parametric;
  switch (below(random, 5)) {
    case 0:
      if (!table.sample.empty()) change_number(any(table.sample, random), random);
      return;
    case 1: {
      auto made = parse_dim(kExpressions[below(random, std::size(kExpressions))]);
      if (!made.ok() || table.symbols.empty() || table.expressions.size() == 0) return;
      std::vector<Dim> expressions = table.expressions.dims();
      any(expressions, random) = made.value().substitute([&](const std::string& name) {
        return Dim::symbol(name == "n" ? table.symbols[0] : name);
      });
      table.expressions = DimTable(std::move(expressions), table.symbols);
      return;
    }
    case 2:
      return change_variants(table.variants, random);
    default: {
      if (table.patches.empty()) return;
      task::Patch& patch = any(table.patches, random);
      patch.field = one_in(random, 4) ? any_enum<task::Patch::Field>(random, 4) : patch.field;
      patch.slot = one_in(random, 2) ? any_slot(program, random) : patch.slot;
      if (one_in(random, 2)) change_number(patch.expression, random);
      if (one_in(random, 4)) change_number(patch.dim, random);
    }
  }
}

void change_rest(Program& program, Random& random) {
  switch (below(random, 5)) {
    case 0:
      change_number(program.n_counters, random);
      return;
    case 1:
      change_number(program.arena_bytes, random);
      return;
    case 2: {
      if (program.queues.empty()) return;
      task::Queue& queue = any(program.queues, random);
      change_number(one_in(random, 2) ? queue.first : queue.count, random);
      return;
    }
    case 3:
      if (!program.side.empty())
        any(program.side, random) = static_cast<std::byte>(number_near<uint8_t>(2, random));
      return;
    default: {
      auto& list = one_in(random, 2) ? program.inputs : program.outputs;
      if (list.empty() || one_in(random, 4))
        list.push_back(any_slot(program, random));
      else
        any(list, random) = any_slot(program, random);
    }
  }
}

}  // namespace

void change_program(Program& program, Random& random) {
  switch (below(random, 8)) {
    case 0:
      return change_records(program, random);
    case 1:
    case 2:
      return change_record(program, random);
    case 3:
    case 4:
      return change_slot(program, random);
    case 5:
      return one_in(random, 2) ? change_size(program, random) : change_dtype(program, random);
    case 6:
      return change_parametric(program, random);
    default:
      return change_rest(program, random);
  }
}

}  // namespace tw::fuzz
