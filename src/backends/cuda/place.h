// place.h: where a record runs follows from where its slots are.
#pragma once

#include "task/record.h"

namespace tw::cuda {

enum class Place : uint8_t {
  kHost,
  kDevice,
  kTransfer
};

/// Weights are on both sides and have no say. A copy from one side to the other is a transfer.
inline Place place_of(const task::Record& record, task::Slots slots) {
  bool host = false, device = false;
  for (const task::Operand& operand : task::operands(record)) {
    const task::SlotInfo& slot = slots[task::index(operand.slot)];
    if (slot.space == task::Space::kWeight) continue;
    (slot.place > 0 ? device : host) = true;
  }
  if (host && device) return Place::kTransfer;
  return device ? Place::kDevice : Place::kHost;
}

}  // namespace tw::cuda
