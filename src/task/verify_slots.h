// verify_slots.h: the part of the proof that looks at slots alone.
#pragma once

#include "task/program.h"

namespace tw::task {

/// The size of every slot of known type and rank is a number: what counts tiles asks for that.
Result<void> verify_sizes(const Program& program);
/// Known types and ranks, views of storage, and no element outside its storage or storage outside
/// the arena.
Result<void> verify_slots(const Program& program);
/// "'layers.0/q'", or "slot 12" where names are stripped.
std::string describe_slot(const Program& program, size_t slot);

}  // namespace tw::task
