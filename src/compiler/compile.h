// compile.h: from a graph to a plan, for one target.
#pragma once

#include <map>
#include <set>

#include "ir/graph.h"
#include "passes/pipeline.h"
#include "plan/plan.h"
#include "planner/target.h"

namespace tw::compiler {

struct CompileOptions {
  std::string model_hash;  // stands in the contract
  /// 1: whole-op tasks, sizes stay open. More: every op cut into tiles for this many workers; needs
  /// a model without open sizes.
  int workers = 1;
  std::set<std::string> skip_passes;
  std::optional<DType> compute_type;            // of arithmetic on f32 values; nothing: f32
  std::map<std::string, std::string> describe;  // further contract entries: the options as given
  std::function<void(const char* step, double fraction)> progress;  // may be empty
};

/// The plan and the bytes that its weights view.
Result<plan::Plan> compile(ir::Graph graph, const planner::TargetServices& target,
                           const CompileOptions& options);

}  // namespace tw::compiler
