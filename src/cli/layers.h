// layers.h: runs nodes of a graph, one alone or all up to one, as compiled programs: what `verify`
// holds against the references.
#pragma once

#include <vector>

#include "api/compile_model.h"
#include "ir/graph.h"

namespace tw::cli {

/// Names and types of a graph's inputs (outputs), as a plan would show them.
std::vector<plan::Port> ports_of(const ir::Graph& graph, const std::vector<ir::ValueId>& values);

/// Compiles `graph` as it is, without passes, and runs it once on `threads` threads.
Result<std::vector<Tensor>> run_as_it_is(ir::Graph graph, const std::vector<Tensor>& inputs,
                                         const api::BuildOptions& options, int threads);

/// `node` of `graph` alone, for the tensors it reads (null where absent). Constants, and integers
/// that shapes determine, are constants of the program too. One tensor an output, an empty Tensor
/// where absent.
Result<std::vector<Tensor>> run_layer(const ir::Graph& graph, const ir::Node& node,
                                      const std::vector<const Tensor*>& inputs,
                                      const api::BuildOptions& options);

/// The value `id` when `graph` runs from its inputs up to there.
Result<Tensor> run_up_to(const ir::Graph& graph, ir::ValueId id, const std::vector<Tensor>& inputs,
                         const api::BuildOptions& options);

}  // namespace tw::cli
