// verify.h: what every pass must leave true of a graph.
#pragma once

#include "ir/graph.h"

namespace tw::ir {

/// Each value has one source (a node, an input or a constant), nodes stand after what they read,
/// outputs exist, ids are in range.
Result<void> verify(const Graph& graph);

}  // namespace tw::ir
