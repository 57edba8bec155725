// tactics.h: which variant of its kernel each task of a program takes: measured where there is a
// GPU, from the timing cache where it was measured before, else what the cost model says.
#pragma once

#include <string>
#include <vector>

#include "task/record.h"

namespace tw::cuda {

struct TacticOptions {
  std::string timing_cache;  // a file; empty: none
  bool measure = true;       // where there is a GPU
};

/// Sets `variant` of records that have a choice. `reports` gains a sentence a task that was
/// measured, and warnings about the cache.
Result<void> choose_variants(std::vector<task::Record>& records, task::Slots slots,
                             std::span<const std::byte> side, const TacticOptions& options,
                             std::vector<std::string>& reports);

}  // namespace tw::cuda
