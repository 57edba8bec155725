// graphs.h: graphs made by tests, and their way through compiler and engine.
#pragma once

#include "ir/contexts.h"
#include "models.h"

namespace tw::e2e {

/// Adds inputs and nodes to a graph of its own; ends the test program with the error when a node is
/// not legal.
class GraphMaker {
 public:
  GraphMaker() : builder_(graph, graph.nodes, "n") {}
  ir::ValueId input(const std::string& name, DType dtype, ir::Shape shape);
  ir::ValueId op(std::string_view name, std::vector<ir::ValueId> inputs, ir::Attrs attrs = {});
  std::vector<ir::ValueId> ops(std::string_view name, std::vector<ir::ValueId> inputs,
                               ir::Attrs attrs, size_t n_outputs);
  ir::GraphBuilder& b() { return builder_; }

  ir::Graph graph;

 private:
  ir::GraphBuilder builder_;
};

/// Compiled for this machine, sizes open.
std::shared_ptr<const runtime::Engine> engine_for(const ir::Graph& graph);
Tensor floats(const Dims& dims, const std::vector<double>& values);

}  // namespace tw::e2e
