// memory.h: memory whose size comes from outside: asked for with a look at what there is, so that a
// model too large for the machine is a sentence and not a killed process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"

namespace tw {

/// Bytes that processes can still have without swapping (MemAvailable of /proc/meminfo); nothing
/// where the system does not say.
std::optional<int64_t> available_memory_bytes();

/// kOutOfMemory with what is wanted and what was found, when `bytes` are more than is available.
Result<void> check_memory(int64_t bytes);

/// kOutOfMemory for `bytes` that the system refused, whatever is available.
Result<void> out_of_memory(int64_t bytes);

/// `bytes` of memory, aligned to 64, freed with the last copy. Zero-filled, up to the next multiple
/// of 64. Fails with kOutOfMemory as check_memory does.
Result<std::shared_ptr<std::byte>> try_alloc(int64_t bytes);

}  // namespace tw
