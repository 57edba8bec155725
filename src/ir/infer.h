// infer.h: types and known integers of a graph's values, node by node through the ops' infer hooks.
#pragma once

#include "ir/graph.h"

namespace tw::ir {

/// Checks `node` against its op (arity, attributes) and sets its outputs' types and known integers.
/// An error names the node and its op.
Result<void> infer_node(Graph& graph, const Node& node);

/// All nodes in order. Input types stand; everything else is computed anew.
Result<void> infer_graph(Graph& graph);

/// The types (and known integers) that `graph`'s outputs have when its inputs are `inputs`. For
/// bodies of If and Loop.
Result<std::vector<Value>> infer_outputs(const Graph& graph, const std::vector<Value>& inputs,
                                         int* n_fresh_symbols);

}  // namespace tw::ir
