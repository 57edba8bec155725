// lowering.h: from a graph to drafts of task programs and the procedure that runs them. Nodes are
// lowered in order; a node whose sizes come from data ends a segment, control flow stands between
// segments. Each segment becomes one draft.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "plan/procedure.h"
#include "planner/target.h"

namespace tw::planner {

/// A constant and its place in the weights of the plan.
struct Weight {
  std::string name;
  Tensor tensor;                  // logical contents
  std::vector<std::byte> packed;  // when not empty, the stored bytes
  task::Layout layout = task::Layout::kStrided;
  int64_t offset_bytes = 0;
  int64_t stored_bytes() const {
    return packed.empty() ? tensor.bytes() : static_cast<int64_t>(packed.size());
  }
  const std::byte* stored() const { return packed.empty() ? tensor.data() : packed.data(); }
};

struct Lowered {
  plan::Procedure main;
  std::vector<task::Draft> drafts;  // RunStep::program counts these
  std::vector<std::string> draft_names;
  std::vector<Weight> weights;  // offsets assigned, ascending
  int64_t weight_bytes = 0;
};

/// `graph` must be legal (every op lowers or is control flow). Errors name the node.
Result<Lowered> lower(const ir::Graph& graph, const TargetServices& target);

}  // namespace tw::planner
