// place.h: which tasks of a program run on the device and which on the host, and the copies that
// this takes.
#pragma once

#include <cstdint>
#include <vector>

#include "task/program.h"

namespace tw::planner {

inline constexpr uint8_t kHost = 0, kDevice = 1;

/// `draft` with a place for every slot and copy tasks between places; `places` has kHost or kDevice
/// for each of its tasks. Weights are on both sides. An input or a result is on the device when a
/// device task reads or writes it. Fails when a host task wants a weight that is packed for the
/// device.
Result<task::Draft> place_tasks(const task::Draft& draft, const std::vector<uint8_t>& places);

}  // namespace tw::planner
