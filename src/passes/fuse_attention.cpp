// fuse_attention: MatMul, scale, mask, Softmax, MatMul over [batch, heads, length, size] become one
// attention, with the transposes that put heads behind the length; merge_transposes then cancels
// them against the exporter's own.
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

struct Match {
  ir::ValueId q, k_transposed, v, mask = ir::kNoValue;
  double scale = 1;
};

bool is_rank4_f32(const ir::Graph& graph, ir::ValueId id) {
  const ir::TensorType& type = graph.value(id).type;
  return type.shape.size() == 4 && type.dtype == DType::kF32;
}

/// A mask has the scores' dims or 1 in each place.
bool is_mask(const ir::Graph& graph, ir::ValueId id, const ir::Shape& scores) {
  if (!is_rank4_f32(graph, id)) return false;
  for (size_t d = 0; d < 4; ++d) {
    const Dim& dim = graph.value(id).type.shape[d];
    if (!(dim == Dim(1)) && !(dim == scores[d])) return false;
  }
  return true;
}

std::optional<Match> match(const ir::Graph& graph, const Neighbours& around,
                           const ir::Node& product) {
  if (product.op->name != "matmul" || !is_rank4_f32(graph, product.inputs[0]) ||
      !is_rank4_f32(graph, product.inputs[1]))
    return std::nullopt;
  const ir::Node* softmax = around.producer(product.inputs[0], "softmax");
  if (softmax == nullptr || !around.single_use(product.inputs[0])) return std::nullopt;
  const int64_t axis = ir::NodeView(*softmax).attr_int("axis");
  if (axis != -1 && axis != 3) return std::nullopt;
  Match found{};
  found.v = product.inputs[1];
  ir::ValueId scores = softmax->inputs[0];
  const ir::Shape& shape = graph.value(scores).type.shape;
  if (const ir::Node* sum = around.producer(scores, "add");
      sum != nullptr && around.single_use(scores)) {
    const size_t side =
        is_mask(graph, sum->inputs[1], shape) && same_shape(graph, sum->inputs[0], scores) ? 1 : 0;
    if (!is_mask(graph, sum->inputs[side], shape) ||
        !same_shape(graph, sum->inputs[1 - side], scores))
      return std::nullopt;
    found.mask = sum->inputs[side];
    scores = sum->inputs[1 - side];
  }
  if (const ir::Node* scaled = around.producer(scores);
      scaled != nullptr && around.single_use(scores)) {
    const auto parts = with_scalar(graph, *scaled);
    if (scaled->op->name == "div" && parts && parts->constant_side == 1)
      found.scale = 1 / parts->number, scores = parts->value;
    else if (scaled->op->name == "mul" && parts)
      found.scale = parts->number, scores = parts->value;
  }
  const ir::Node* first = around.producer(scores, "matmul");
  if (first == nullptr || !around.single_use(scores) || !is_rank4_f32(graph, first->inputs[0]) ||
      !is_rank4_f32(graph, first->inputs[1]))
    return std::nullopt;
  found.q = first->inputs[0];
  found.k_transposed = first->inputs[1];
  for (size_t d = 0; d < 2; ++d) {  // batch and heads do not broadcast
    const Dim& dim = graph.value(found.q).type.shape[d];
    if (!(graph.value(found.k_transposed).type.shape[d] == dim) ||
        !(graph.value(found.v).type.shape[d] == dim))
      return std::nullopt;
  }
  return found;
}

}  // namespace

Result<int> fuse_attention(ir::Graph& graph) {
  const ir::Graph before = graph;
  const Neighbours around(before);
  const int fired = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        if (static_cast<size_t>(node.outputs[0]) >= before.values.size())
          return std::optional<std::vector<ir::ValueId>>();
        const int index = around.producer_index(node.outputs[0]);
        const auto found = match(before, around, before.nodes[static_cast<size_t>(index)]);
        if (!found) return std::optional<std::vector<ir::ValueId>>();
        const std::vector<int64_t> swap_heads{0, 2, 1, 3}, from_transposed{0, 3, 1, 2};
        const ir::ValueId q = TRY(b.op("transpose", {found->q}, {{"perm", swap_heads}}));
        const ir::ValueId k =
            TRY(b.op("transpose", {found->k_transposed}, {{"perm", from_transposed}}));
        const ir::ValueId v = TRY(b.op("transpose", {node.inputs[1]}, {{"perm", swap_heads}}));
        const ir::ValueId y =
            TRY(b.op("attention", {q, k, v, found->mask}, {{"scale", found->scale}}));
        return std::optional(
            std::vector<ir::ValueId>{TRY(b.op("transpose", {y}, {{"perm", swap_heads}}))});
      }));
  remove_dead_nodes(graph);
  return fired;
}

}  // namespace tw::passes
