// address_table.h: from slots to addresses, once a context.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "task/program.h"

namespace tw::cpu {

/// Where a root slot of space input, output or state lives.
struct BoundSlot {
  task::SlotId slot = task::kNoSlot;
  std::byte* data = nullptr;
};

/// Places that a program's spaces have; null or absent for what the program does not use.
struct Bindings {
  std::byte* arena = nullptr;
  std::byte* weights = nullptr;
  std::span<const BoundSlot> bound;
};

/// By slot: the address of its element with all coordinates 0, or null when its space has no place
/// in `bindings` or it has no elements.
std::vector<std::byte*> partial_addresses(const task::Program& program, const Bindings& bindings);

/// The same, but every slot has a place: the error names one that has not. Slots of no bytes need
/// none.
Result<std::vector<std::byte*>> relocate(const task::Program& program, const Bindings& bindings);

}  // namespace tw::cpu
