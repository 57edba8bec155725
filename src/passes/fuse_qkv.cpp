// fuse_qkv: queries, keys and values that three linears make of one input come from one linear
// instead, and attention reads its result where it lies.
#include <algorithm>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

/// The linear whose result, seen as heads, is `id`: [b, s, h, d] from [b, s, h * d].
const ir::Node* linear_of(const ir::Graph& graph, const Neighbours& around, ir::ValueId id) {
  const ir::Node* reshape = around.producer(id, "reshape");
  if (reshape == nullptr || !around.single_use(id)) return nullptr;
  const ir::Node* linear = around.producer(reshape->inputs[0], "linear");
  if (linear == nullptr || !around.single_use(reshape->inputs[0]) ||
      !graph.value(linear->inputs[1]).constant)
    return nullptr;
  const ir::Shape &rows = graph.value(reshape->inputs[0]).type.shape,
                  &heads = graph.value(id).type.shape;
  const bool only_columns_split = rows.size() == 3 && heads.size() == 4 && rows[0] == heads[0] &&
                                  rows[1] == heads[1] && heads[2].is_constant() &&
                                  heads[3].is_constant();
  return only_columns_split ? linear : nullptr;
}

ir::ValueId bias_of(const ir::Node& linear) {
  return linear.inputs.size() > 2 ? linear.inputs[2] : ir::kNoValue;
}

/// The linears behind q, k and v, when they fit together.
std::optional<std::vector<const ir::Node*>> match(const ir::Graph& graph, const Neighbours& around,
                                                  const ir::Node& attention) {
  std::vector<const ir::Node*> linears;
  for (size_t i = 0; i < 3; ++i) {
    const ir::Node* linear = linear_of(graph, around, attention.inputs[i]);
    if (linear == nullptr) return std::nullopt;
    linears.push_back(linear);
  }
  const auto size_of = [&](size_t i) { return graph.value(attention.inputs[i]).type.shape[3]; };
  for (const ir::Node* linear : linears) {
    const bool biased = bias_of(*linear) != ir::kNoValue;
    if (linear->inputs[0] != linears[0]->inputs[0] ||
        biased != (bias_of(*linears[0]) != ir::kNoValue) ||
        (biased && !graph.value(bias_of(*linear)).constant))
      return std::nullopt;
  }
  if (!(size_of(0) == size_of(1)) || !(size_of(0) == size_of(2))) return std::nullopt;
  return linears;
}

/// Tensors side by side on their last dim; all their other dims are equal.
Result<Tensor> side_by_side(const ir::Graph& graph, const std::vector<ir::ValueId>& ids) {
  const Tensor& first = *graph.value(ids[0]).constant;
  Dims dims = first.dims();
  dims.back() = 0;
  for (const ir::ValueId id : ids) dims.back() += graph.value(id).constant->dims().back();
  Tensor made = TRY(Tensor::try_make(first.dtype(), dims));
  const int64_t n_rows = first.dims().size() > 1 ? first.dims()[0] : 1;
  std::byte* to = made.mutable_data();
  for (int64_t row = 0; row < n_rows; ++row)
    for (const ir::ValueId id : ids) {
      const Tensor& from = *graph.value(id).constant;
      const int64_t bytes = from.dims().back() * size_bytes(from.dtype());
      std::copy_n(from.data() + row * bytes, bytes, to);
      to += bytes;
    }
  return made;
}

Result<ir::ValueId> fuse(const ir::Graph& before, const ir::Node& attention,
                         const std::vector<const ir::Node*>& linears, ir::GraphBuilder& b) {
  std::vector<ir::ValueId> weights, biases;
  for (const ir::Node* linear : linears) {
    weights.push_back(linear->inputs[1]);
    if (bias_of(*linear) != ir::kNoValue) biases.push_back(bias_of(*linear));
  }
  std::vector<ir::ValueId> inputs{linears[0]->inputs[0],
                                  b.constant(TRY(side_by_side(before, weights)))};
  if (!biases.empty()) inputs.push_back(b.constant(TRY(side_by_side(before, biases))));
  std::vector<ir::ValueId> operands{TRY(b.op("linear", inputs))};
  if (attention.inputs.size() > 3 && attention.inputs[3] != ir::kNoValue)
    operands.push_back(attention.inputs[3]);
  const ir::Shape& q = before.value(attention.inputs[0]).type.shape;
  const ir::NodeView view(attention);
  return b.op("qkv_attention", operands,
              {{"heads", q[2].constant()},
               {"kv_heads", before.value(attention.inputs[1]).type.shape[2].constant()},
               {"head_size", q[3].constant()},
               {"scale", view.attr_float("scale")},
               {"causal", view.attr_int("causal")}});
}

}  // namespace

Result<int> fuse_qkv(ir::Graph& graph) {
  const ir::Graph before = graph;
  const Neighbours around(before);
  const int fired = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        std::optional<std::vector<ir::ValueId>> none;
        if (node.op->name != "attention" ||
            static_cast<size_t>(node.outputs[0]) >= before.values.size())
          return none;
        // The node as it was: inputs that earlier rewrites replaced are new values.
        const auto& old = before.nodes[static_cast<size_t>(around.producer_index(node.outputs[0]))];
        const auto linears = match(before, around, old);
        if (!linears) return none;
        ir::Node current = node;
        for (size_t i = 0; i < 3; ++i) current.inputs[i] = old.inputs[i];
        return std::optional(std::vector<ir::ValueId>{TRY(fuse(before, current, *linears, b))});
      }));
  remove_dead_nodes(graph);
  return fired;
}

}  // namespace tw::passes
