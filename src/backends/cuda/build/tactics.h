// tactics.h: which variant of its kernel each task of a program takes: measured where there is a
// GPU, from the timing cache where it was measured before, else what the cost model says. Where
// sizes are open it is measured at several, and each task gets ranges of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/cuda/launch.h"
#include "task/program.h"

namespace tw::cuda {

/// Told what a build is at, by the thread that builds; may be empty.
using BuildProgress = std::function<void(const char* step, double fraction)>;

struct TacticOptions {
  std::string timing_cache;  // a file; empty: none
  bool measure = true;       // where there is a GPU
  BuildProgress progress = {};
};

/// Sets the variants of tasks that have a choice; `program` is made of them at sample sizes.
/// `reports` gains a sentence a task that was measured, one a task whose variant changes with the
/// sizes, and warnings about the cache.
Result<void> choose_variants(const task::Program& program, std::vector<task::Draft::Task>& tasks,
                             const TacticOptions& options, std::vector<std::string>& reports);

/// Kinds that a variant is chosen for: products and attention.
bool has_variants(const task::Record& record);
/// The name of a task in a timing cache: equal for tasks that do the same work on equal shapes.
std::string signature(const TaskView& view);

}  // namespace tw::cuda
