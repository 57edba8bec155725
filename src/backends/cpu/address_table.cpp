#include "backends/cpu/address_table.h"

namespace tw::cpu {
namespace {

using task::Space;

std::byte* root_address(const task::SlotInfo& root, task::SlotId id, const Bindings& bindings) {
  std::byte* base = nullptr;
  if (root.space == Space::kArena) {
    base = bindings.arena;
  } else if (root.space == Space::kWeight) {
    base = bindings.weights;
  } else {
    for (const BoundSlot& bound : bindings.bound) {
      if (bound.slot == id) base = bound.data;
    }
  }
  return base != nullptr ? base + root.offset_bytes : nullptr;
}

const char* space_name(Space space) {
  switch (space) {
    case Space::kArena:
      return "arena";
    case Space::kWeight:
      return "weight";
    case Space::kInput:
      return "input";
    case Space::kOutput:
      return "output";
    case Space::kState:
      return "state";
  }
  return "unknown";
}

}  // namespace

std::vector<std::byte*> partial_addresses(const task::Program& program, const Bindings& bindings) {
  std::vector<std::byte*> addresses(program.slots.size(), nullptr);
  for (size_t i = 0; i < program.slots.size(); ++i) {
    const task::SlotInfo& slot = program.slots[i];
    if (slot.count() == 0) continue;
    const task::SlotInfo& root = program.slot(slot.root);
    std::byte* base = root_address(root, slot.root, bindings);
    const bool is_root = task::index(slot.root) == i;
    if (base != nullptr) addresses[i] = is_root ? base : base + slot.offset_bytes;
  }
  return addresses;
}

Result<std::vector<std::byte*>> relocate(const task::Program& program, const Bindings& bindings) {
  std::vector<std::byte*> addresses = partial_addresses(program, bindings);
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] != nullptr || program.slots[i].count() == 0) continue;
    const std::string name = i < program.slot_names.size() ? program.slot_names[i] : "";
    return error(Code::kInvalidArgument, "slot ", i, " ", name, " of space ",
                 space_name(program.slots[i].space), " is not bound to memory");
  }
  return addresses;
}

}  // namespace tw::cpu
