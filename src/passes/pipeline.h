// pipeline.h: what happens to a graph between import and lowering. The order stands once, in
// pipeline.cpp, with a reason a line.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tw::passes {

/// How often it fired. A pass leaves a legal graph with the same meaning; run again at once it
/// changes nothing.
using PassFunction = Result<int> (*)(ir::Graph&);

struct Pass {
  const char* name;
  PassFunction run;
};

std::span<const Pass> pipeline();

struct PipelineOptions {
  std::set<std::string> skip;  // passes by name
  std::function<void(const char* pass, int fired, const ir::Graph&)>
      on_pass;  // after each of the first round, and later where it fired; may be empty
};

/// Runs the pipeline over `graph` and, first, over the bodies of its control flow, until nothing
/// changes any more. Verifies after each pass: an error names the pass.
Result<void> optimize(ir::Graph& graph, const PipelineOptions& options);

/// The passes, each a file of its own.
Result<int> fold_constants(ir::Graph& graph);
Result<int> remove_no_ops(ir::Graph& graph);
Result<int> lift_shapes(ir::Graph& graph);
Result<int> eliminate_common(ir::Graph& graph);
Result<int> eliminate_dead(ir::Graph& graph);
Result<int> merge_transposes(ir::Graph& graph);
Result<int> fuse_linear(ir::Graph& graph);
Result<int> fuse_gelu(ir::Graph& graph);
Result<int> fuse_attention(ir::Graph& graph);
Result<int> inline_known_if(ir::Graph& graph);
Result<int> sink_transposes(ir::Graph& graph);
Result<int> fold_affine(ir::Graph& graph);
Result<int> fuse_hard_swish(ir::Graph& graph);
Result<int> decompose_unlowered(ir::Graph& graph);
Result<int> fuse_qkv(ir::Graph& graph);
Result<int> lower_precision(ir::Graph& graph);
Result<int> fuse_epilogue(ir::Graph& graph);
Result<int> fuse_elementwise(ir::Graph& graph);

}  // namespace tw::passes
