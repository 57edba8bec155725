// print.h: a graph as text, for golden tests, bug reports and the question whether two graphs are
// the same.
#pragma once

#include "ir/graph.h"

namespace tw::ir {

/// One line an input, constant, node and output, bodies of control flow indented below their node.
/// Values stand by name; those that nothing uses are left out, and so are names of nodes. Constants
/// of more than eight elements show a hash of their bytes.
std::string print(const Graph& graph);

}  // namespace tw::ir
