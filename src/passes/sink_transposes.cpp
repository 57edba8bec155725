// sink_transposes: moves transposes behind elementwise ops, concatenations and reductions, so that
// those between two convolutions meet and cancel (merge_transposes): the graph between them then
// runs with channels last.
#include <algorithm>
#include <map>
#include <numeric>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

using Permutation = std::vector<int64_t>;
using Rewritten = Result<std::optional<std::vector<ir::ValueId>>>;

/// A value that is transpose(source, permutation).
struct Moved {
  ir::ValueId source = ir::kNoValue;
  Permutation permutation;
};

Permutation inverse(const Permutation& permutation) {
  Permutation out(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d)
    out[static_cast<size_t>(permutation[d])] = static_cast<int64_t>(d);
  return out;
}

/// Whether elements move in memory: the order of the dims larger than 1 changes.
bool moves_elements(const Permutation& permutation, const ir::Shape& source) {
  int64_t last = -1;
  for (const int64_t d : permutation) {
    if (source[static_cast<size_t>(d)] == Dim(1)) continue;
    if (d < last) return true;
    last = d;
  }
  return false;
}

class Sinker {
 public:
  explicit Sinker(ir::Graph& graph) : graph_(graph) {}

  Rewritten rewrite(const ir::Node& node, ir::GraphBuilder& b) {
    if (node.op->name == "transpose") {
      remember(node.outputs[0], node.inputs[0], ir::NodeView(node).attr_ints("perm"));
      return none();
    }
    const auto permutation = common_permutation(node);
    if (!permutation) return none();
    if (is_pointwise(node)) return sink_elementwise(node, *permutation, b);
    if (node.op->name == "concat") return sink_concat(node, *permutation, b);
    if (node.op->name.starts_with("reduce_")) return sink_reduce(node, *permutation, b);
    return none();
  }

 private:
  static Rewritten none() { return std::optional<std::vector<ir::ValueId>>(); }
  const ir::Shape& shape(ir::ValueId id) const { return graph_.value(id).type.shape; }

  void remember(ir::ValueId id, ir::ValueId source, Permutation permutation) {
    if (!permutation.empty()) moved_[id] = {source, std::move(permutation)};
  }

  /// The permutation that all moved inputs share; nothing when no input is moved or they differ.
  std::optional<Permutation> common_permutation(const ir::Node& node) const {
    std::optional<Permutation> common;
    for (const ir::ValueId id : node.inputs) {
      const auto found = moved_.find(id);
      if (found == moved_.end()) continue;
      if (common && *common != found->second.permutation) return std::nullopt;
      common = found->second.permutation;
    }
    return common;
  }

  /// `id` as it is before the permutation; nothing when that would cost a real move.
  Result<std::optional<ir::ValueId>> before(ir::ValueId id, const Permutation& permutation,
                                            ir::GraphBuilder& b) {
    const auto found = moved_.find(id);
    if (found != moved_.end()) return std::optional(found->second.source);
    if (id == ir::kNoValue) return std::optional(id);
    const ir::Value& value = graph_.value(id);
    const size_t rank = permutation.size();
    if (value.constant && value.constant->count() == 1) return std::optional(id);
    if (value.type.shape.size() > rank) return std::optional<ir::ValueId>();
    if (!value.constant &&
        (value.type.shape.size() != rank || moves_elements(inverse(permutation), value.type.shape)))
      return std::optional<ir::ValueId>();
    ir::ValueId full = id;
    if (value.type.shape.size() < rank) {
      std::vector<int64_t> axes(rank - value.type.shape.size());
      std::iota(axes.begin(), axes.end(), 0);
      full = TRY(b.op("unsqueeze", {id, b.ints(axes)}));
    }
    return std::optional(TRY(b.op("transpose", {full}, {{"perm", inverse(permutation)}})));
  }

  /// One transpose behind instead of those in front. Where an operand has none and gets one, those
  /// in front must move elements: the next run would else take it back.
  bool gains(const ir::Node& node, const Permutation& permutation) const {
    bool all_moved = true, any_real = false;
    for (const ir::ValueId id : node.inputs) {
      const auto found = moved_.find(id);
      if (found != moved_.end())
        any_real = any_real || moves_elements(permutation, shape(found->second.source));
      else if (id != ir::kNoValue && !graph_.value(id).constant)
        all_moved = false;
    }
    return all_moved || any_real;
  }

  Result<std::optional<std::vector<ir::ValueId>>> all_before(const ir::Node& node,
                                                             const Permutation& permutation,
                                                             ir::GraphBuilder& b) {
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId id : node.inputs) {
      const auto source = TRY(before(id, permutation, b));
      if (!source) return std::optional<std::vector<ir::ValueId>>();
      inputs.push_back(*source);
    }
    return std::optional(std::move(inputs));
  }

  Rewritten behind(ir::ValueId made, const Permutation& permutation, ir::GraphBuilder& b) {
    const ir::ValueId result = TRY(b.op("transpose", {made}, {{"perm", permutation}}));
    remember(result, made, permutation);
    return std::optional(std::vector<ir::ValueId>{result});
  }

  Rewritten sink_elementwise(const ir::Node& node, const Permutation& permutation,
                             ir::GraphBuilder& b) {
    if (shape(node.outputs[0]).size() != permutation.size()) return none();
    if (!gains(node, permutation)) return none();
    const auto inputs = TRY(all_before(node, permutation, b));
    if (!inputs) return none();
    return behind(TRY(b.op(node.op->name, *inputs, node.attrs)), permutation, b);
  }

  Rewritten sink_concat(const ir::Node& node, const Permutation& permutation, ir::GraphBuilder& b) {
    for (const ir::ValueId id : node.inputs)
      if (!moved_.contains(id)) return none();
    const auto inputs = TRY(all_before(node, permutation, b));
    int64_t axis = ir::NodeView(node).attr_int("axis");
    if (axis < 0) axis += static_cast<int64_t>(permutation.size());
    return behind(TRY(b.op("concat", *inputs, {{"axis", permutation[static_cast<size_t>(axis)]}})),
                  permutation, b);
  }

  Rewritten sink_reduce(const ir::Node& node, const Permutation& permutation, ir::GraphBuilder& b) {
    const ir::NodeView view(node);
    if (view.attr_int("keepdims") == 0 || node.inputs.size() < 2 ||
        !moved_.contains(node.inputs[0]))
      return none();
    const auto& known = graph_.value(node.inputs[1]).ints;
    if (!known || known->empty()) return none();
    std::vector<int64_t> axes;
    for (const Dim& dim : *known) {
      if (!dim.is_constant()) return none();
      const int64_t axis = dim.constant() < 0
                               ? dim.constant() + static_cast<int64_t>(permutation.size())
                               : dim.constant();
      axes.push_back(permutation[static_cast<size_t>(axis)]);
    }
    std::sort(axes.begin(), axes.end());
    const ir::ValueId made =
        TRY(b.op(node.op->name, {moved_.at(node.inputs[0]).source, b.ints(axes)}, node.attrs));
    return behind(made, permutation, b);
  }

  ir::Graph& graph_;
  std::map<ir::ValueId, Moved> moved_;
};

}  // namespace

Result<int> sink_transposes(ir::Graph& graph) {
  Sinker sinker(graph);
  const int fired = TRY(rewrite_nodes(
      graph, [&](const ir::Node& node, ir::GraphBuilder& b) { return sinker.rewrite(node, b); }));
  remove_dead_nodes(graph);
  return fired;
}

}  // namespace tw::passes
