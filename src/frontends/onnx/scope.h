// scope.h: one graph while it is being built: the names seen so far, and the graph outside of it
// when it is a body.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "frontends/onnx/raw_model.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace tw::onnx {

struct Scope {
  /// `outer` is null for the model's own graph. Symbols of the outer graph stay meaningful: new
  /// ones count on from there.
  Scope(const RawGraph& raw_graph, Scope* outer_scope, int64_t* nodes_left);

  /// The value of this name: made here, an initialiser, or a constant of an outer graph, which is
  /// copied in (its bytes are shared). Nothing when the name is unknown here; values of outer
  /// graphs that are no constants must have been captured.
  std::optional<ir::ValueId> find(const std::string& name);
  /// A value whose name is `wanted`, or like it when the model uses that name for something else.
  ir::ValueId add_value(const std::string& wanted, ir::Value value);

  const RawGraph& raw;
  Scope* outer;
  int depth;
  int64_t* n_nodes_left;  // of the whole import
  ir::Graph graph;
  std::unordered_map<std::string, ir::ValueId> names;
  std::unordered_set<std::string> taken;  // names that values have or will have
};

/// The node's inputs as values, absent ones as kNoValue, absent ones at the end dropped.
Result<std::vector<ir::ValueId>> find_inputs(Scope& scope, const RawNode& node);

/// Appends a node of `op` with `node`'s name and outputs and infers their types. Its outputs are
/// `n_outputs`, the rest absent; by default as many as the last one that is there.
Result<void> append_node(Scope& scope, const RawNode& node, const ir::OpDef& op,
                         std::vector<ir::ValueId> inputs, ir::Attrs attrs, size_t n_outputs = 0);

/// Converts all nodes of `scope.raw` in a legal order. (convert.cpp)
Result<void> convert_nodes(Scope& scope);

}  // namespace tw::onnx
