// eliminate_dead: what no output needs.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {

Result<int> eliminate_dead(ir::Graph& graph) { return remove_dead_nodes(graph); }

}  // namespace tw::passes
