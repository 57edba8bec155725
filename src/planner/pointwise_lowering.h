// pointwise_lowering.h: elementwise nodes, alone or as the body of a fused op, become one
// PointProgram.
#pragma once

#include "ir/graph.h"
#include "task/pointwise.h"

namespace tw::planner {

/// The program of `nodes` (all with a pointwise hook, in order). Register i holds `inputs[i]`;
/// constants of one element become literals. Fails with a sentence when 32 registers do not do.
Result<task::PointProgram> lower_pointwise(const ir::Graph& graph,
                                           const std::vector<const ir::Node*>& nodes,
                                           const std::vector<ir::ValueId>& inputs,
                                           const std::vector<ir::ValueId>& outputs);

}  // namespace tw::planner
