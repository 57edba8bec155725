// target.h: what the planner needs of the CPU backend.
#pragma once

#include <memory>

#include "backends/cpu/kernels/isa.h"
#include "planner/target.h"

namespace tw::cpu {

/// Packs weights for `isa`; portable: leaves them plain, so that the plan runs on every machine,
/// which packs them when it loads.
std::unique_ptr<planner::TargetServices> make_target(Isa isa, bool portable);

}  // namespace tw::cpu
