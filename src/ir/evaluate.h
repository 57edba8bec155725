// evaluate.h: runs ops by their references: the meaning of a graph, used by tests, constant folding
// and `verify`.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"

namespace tw::ir {

/// The node's outputs for concrete inputs (null where absent): by the op's reference, else by its
/// decomposition. `prefer_decomposition` takes the decomposition where both exist (tests hold them
/// against each other).
Result<std::vector<Tensor>> evaluate_node(const Node& node,
                                          const std::vector<const Tensor*>& inputs,
                                          bool prefer_decomposition = false);

/// The graph's outputs for concrete inputs. `on_node` (may be empty) sees each node's outputs as
/// they are computed.
Result<std::vector<Tensor>> evaluate_graph(
    const Graph& graph, const std::vector<Tensor>& inputs,
    const std::function<void(const Node&, const std::vector<Tensor>&)>& on_node = {});

}  // namespace tw::ir
