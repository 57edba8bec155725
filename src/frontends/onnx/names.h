// names.h: who defines and who uses which name of a RawGraph, and the order that follows from it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "frontends/onnx/raw_model.h"

namespace tw::onnx {

/// The names that the graph and its subgraphs use and do not define, each once, in the order of
/// first use.
std::vector<std::string> free_names(const RawGraph& graph);
/// The names that a node reads: its inputs and the free names of its subgraphs. Absent inputs are
/// left out.
std::vector<std::string> names_read(const RawNode& node);

/// Fails when a name is defined twice in the graph (by inputs, initialisers or nodes), or an input
/// has no name.
Result<void> check_definitions(const RawGraph& graph);

/// The nodes' indices so that each stands after those whose outputs it reads; the file's order
/// where that is legal. Fails on a cycle, naming it, and, when `is_closed` (no outer graph), on a
/// name that nothing defines.
Result<std::vector<size_t>> sort_nodes(const RawGraph& graph, bool is_closed);

}  // namespace tw::onnx
