// The text form of a program: one line a slot, one a task.
#include "task/variants.h"

namespace tw::task {
namespace {

template <class T>
std::string value_text(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return cat(static_cast<int>(value));
  else
    return cat(value);
}
template <class T, size_t N>
std::string value_text(const std::array<T, N>& values) {
  return cat("[", join(values, ","), "]");
}

std::string_view space_name(Space space) {
  constexpr std::string_view kNames[] = {"arena", "weight", "input", "output", "state"};
  return kNames[static_cast<size_t>(space)];
}

std::string slot_line(const Program& program, size_t i) {
  const SlotInfo& slot = program.slots[i];
  std::string line = cat("s", i, " ", slot.dtype, "[", join(slot.shape(), ","), "]");
  if (!is_contiguous(slot)) {
    Dims strides;
    for (int d = 0; d < slot.rank; ++d) strides.push_back(slot.strides[d]);
    line += cat(" strides [", join(strides, ","), "]");
  }
  if (slot.layout == Layout::kPanels) line += " panels";
  line += slot.is_view() ? cat(" of s", index(slot.root), " +", slot.offset_bytes)
                         : cat(" ", space_name(slot.space), " +", slot.offset_bytes, " ",
                               slot.storage_bytes, " bytes");
  if (i < program.slot_names.size() && !program.slot_names[i].empty())
    line += cat("  # ", program.slot_names[i]);
  return line;
}

std::string task_line(const Program& program, const Record& record) {
  std::string line = cat("t", record.seq, " ", kind_name(record.kind), " tiles ", record.tile_begin,
                         "..", record.tile_end);
  visit(record, [&](const auto& task) {
    detail::for_each_operand(task, [&](const char* name, const auto& operand) {
      if (operand.id != kNoSlot) line += cat(" ", name, "=s", index(operand.id));
    });
    detail::for_each_plain_field(task, [&](const char* name, const auto& field) {
      line += cat(" ", name, "=", value_text(field));
    });
    return 0;
  });
  if (record.variant != 0) line += cat(" variant ", static_cast<int>(record.variant));
  const auto ranges = ranges_of(program.parametric.variants, record.op);
  if (!ranges.empty() && record.kind != Tasks::number_of<JoinTask>())
    line += cat(" (", to_string(ranges), ")");
  for (size_t w = 0; w < record.n_waits; ++w)
    line += cat(" wait c", record.waits[w].counter, ">=", record.waits[w].target);
  if (record.signal != kNoCounter) line += cat(" signal c", record.signal);
  if (record.op < program.op_names.size()) line += cat("  # ", program.op_names[record.op]);
  return line;
}

}  // namespace

std::string print(const Program& program) {
  std::string text =
      cat("program: ", program.records.size(), " tasks, ", program.queues.size(), " queues, ",
          program.n_counters, " counters, arena ", program.arena_bytes, " bytes\n");
  for (size_t s = 0; s < program.parametric.symbols.size(); ++s)
    text +=
        cat("symbol ", program.parametric.symbols[s], " = ", program.parametric.sample[s], "\n");
  for (size_t i = 0; i < program.slots.size(); ++i) text += slot_line(program, i) + "\n";
  for (size_t q = 0; q < program.queues.size(); ++q) {
    text += cat("queue ", q, "\n");
    const Queue& queue = program.queues[q];
    for (uint32_t i = queue.first; i < queue.first + queue.count; ++i)
      text += "  " + task_line(program, program.records[i]) + "\n";
  }
  return text;
}

}  // namespace tw::task
