// fuse_body.h: makes one `fused` node out of several: the body is a graph of its own, its inputs
// are what the nodes read from outside.
#pragma once

#include "passes/edit.h"

namespace tw::passes {

/// Nodes of one fusion by index, ascending; the last one's place is where the fused node stands.
using Group = std::vector<size_t>;

/// Values that the group's nodes read and none of them makes, in order of first use. Constants of
/// one element are left out: they travel inside the body.
std::vector<ir::ValueId> outside_inputs(const ir::Graph& graph, const Group& group);

/// Replaces each group by one fused node whose output is the last node's. Groups are disjoint.
Result<int> replace_groups(ir::Graph& graph, const std::vector<Group>& groups);

}  // namespace tw::passes
