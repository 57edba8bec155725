#include "task/record.h"

#include <algorithm>

namespace tw::task {
namespace {

template <class... Kinds>
constexpr std::array<std::string_view, sizeof...(Kinds)> names(TaskList<Kinds...>) {
  return {Kinds::kName...};
}
constexpr auto kNames = names(Tasks{});

using Roles = FixedList<Role, kMaxOperands>;

template <class Task>
constexpr Roles roles_of() {
  Roles roles;
  const Task task;
  detail::for_each_operand(task, [&](const char* name, const auto& operand) {
    roles.push_back({name, detail::OperandRole<std::remove_cvref_t<decltype(operand)>>::kMode});
  });
  return roles;
}
template <class... Kinds>
constexpr std::array<Roles, sizeof...(Kinds)> all_roles(TaskList<Kinds...>) {
  return {roles_of<Kinds>()...};
}
/// By kind: its operands as they stand in a record.
constexpr auto kRoles = all_roles(Tasks{});

/// Grows the last access to the same slot and mode when the union of both boxes is a box.
bool merge(Access& into, const Access& next) {
  if (into.slot != next.slot || into.mode != next.mode) return false;
  int differing = -1;
  for (size_t d = 0; d < into.box.begin.size(); ++d) {
    if (into.box.begin[d] == next.box.begin[d] && into.box.end[d] == next.box.end[d]) continue;
    if (differing >= 0) return false;
    differing = static_cast<int>(d);
  }
  if (differing < 0) return true;
  const auto d = static_cast<size_t>(differing);
  if (next.box.begin[d] > into.box.end[d] || next.box.end[d] < into.box.begin[d]) return false;
  into.box.begin[d] = std::min(into.box.begin[d], next.box.begin[d]);
  into.box.end[d] = std::max(into.box.end[d], next.box.end[d]);
  return true;
}

void add_merged(AccessList& list, size_t first, const Access& access) {
  if (access.box.count() == 0) return;
  for (size_t i = list.size(); i-- > first;)
    if (merge(list[i], access)) return;
  list.push_back(access);
}

}  // namespace

std::string_view kind_name(uint8_t kind) { return kind < kNames.size() ? kNames[kind] : "unknown"; }

std::span<const Role> operand_roles(uint8_t kind) {
  CHECK(kind < kRoles.size(), "the kind of a checked record is known");
  return {kRoles[kind].data(), kRoles[kind].size()};
}

FixedList<Operand, kMaxOperands> operands(const Record& record) {
  FixedList<Operand, kMaxOperands> list;
  const std::span<const Role> roles = operand_roles(record.kind);
  for (size_t i = 0; i < roles.size(); ++i)
    if (record.operands[i] != kNoSlot)
      list.push_back({roles[i].name, record.operands[i], roles[i].mode});
  return list;
}

int64_t n_tiles(const Record& record, Slots slots) {
  return visit(record, [&](const auto& task) { return task.n_tiles(slots); });
}

void access(const Record& record, Slots slots, AccessList& list) {
  if (is_whole_op(record, n_tiles(record, slots))) {
    for (const Operand& operand : operands(record)) {
      Box box = Box::whole(slots[index(operand.slot)]);
      if (box.count() > 0) list.push_back({operand.slot, operand.mode, std::move(box)});
    }
    return;
  }
  const size_t first = list.size();
  AccessList tile;
  visit(record, [&](const auto& task) {
    for (int64_t i = record.tile_begin; i < record.tile_end; ++i) {
      tile.clear();
      task.access(slots, i, tile);
      for (const Access& one : tile) add_merged(list, first, one);
    }
    return 0;
  });
}

}  // namespace tw::task
