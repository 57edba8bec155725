// fold_affine: a product or sum with one constant a channel behind a conv or linear goes into its
// weights and bias.
#include <cmath>

#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

/// One number a channel when `id` is a constant that varies along the last dim only.
std::optional<std::vector<double>> per_channel(const ir::Graph& graph, ir::ValueId id,
                                               int64_t channels) {
  const auto& constant = id == ir::kNoValue ? std::optional<Tensor>() : graph.value(id).constant;
  if (!constant || constant->dtype() != DType::kF32) return std::nullopt;
  const bool row =
      constant->rank() > 0 && constant->dims().back() == channels && constant->count() == channels;
  if (!row && constant->count() != 1) return std::nullopt;
  std::vector<double> numbers;
  for (int64_t c = 0; c < channels; ++c) numbers.push_back(constant->float_at(row ? c : 0));
  return numbers;
}

/// Where weights of `op` keep the channel: conv [co, ..], linear [k, n].
Result<ir::ValueId> scaled_weights(ir::GraphBuilder& b, const ir::Node& anchor,
                                   const std::vector<double>& scale) {
  const Tensor& old = *b.graph().value(anchor.inputs[1]).constant;
  Tensor made = TRY(Tensor::try_make(old.dtype(), old.dims()));
  const bool conv = anchor.op->name == "conv";
  const auto channels = static_cast<int64_t>(scale.size());
  const int64_t inner = conv ? old.count() / channels : 1;
  for (int64_t i = 0; i < old.count(); ++i)
    made.set_float(i, old.float_at(i) * scale[static_cast<size_t>(i / inner % channels)]);
  return b.constant(std::move(made));
}

Result<ir::ValueId> new_bias(ir::GraphBuilder& b, const ir::Node& anchor,
                             const std::vector<double>& scale, const std::vector<double>& shift) {
  Tensor made = TRY(Tensor::try_make(DType::kF32, Dims{static_cast<int64_t>(shift.size())}));
  const bool has = anchor.inputs.size() > 2 && anchor.inputs[2] != ir::kNoValue;
  for (size_t c = 0; c < shift.size(); ++c) {
    const auto i = static_cast<int64_t>(c);
    const double old = has ? b.graph().value(anchor.inputs[2]).constant->float_at(i) : 0;
    made.set_float(i, old * scale[c] + shift[c]);
  }
  return b.constant(std::move(made));
}

bool is_anchor(const ir::Graph& graph, const ir::Node& node) {
  const bool conv = node.op->name == "conv" && ir::NodeView(node).attr_string("layout") == "nhwc";
  if (!conv && node.op->name != "linear") return false;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != ir::kNoValue && (!graph.value(node.inputs[i]).constant ||
                                           graph.value(node.inputs[i]).type.dtype != DType::kF32))
      return false;
  return true;
}

}  // namespace

Result<int> fold_affine(ir::Graph& graph) {
  const std::vector<int> uses = ir::use_counts(graph);
  std::map<ir::ValueId, ir::Node> anchors;  // by result, as they stand now
  const int fired = TRY(rewrite_nodes(
      graph,
      [&](const ir::Node& node,
          ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
        const auto none = std::optional<std::vector<ir::ValueId>>();
        const auto used_once = [&](ir::ValueId id) {
          return static_cast<size_t>(id) >= uses.size() || uses[static_cast<size_t>(id)] == 1;
        };
        if (is_anchor(graph, node)) {
          anchors[node.outputs[0]] = node;
          return none;
        }
        const std::string_view op = node.op->name;
        if (op != "mul" && op != "add" && op != "sub" && op != "div") return none;
        for (const size_t side : {size_t{0}, size_t{1}}) {
          if (side == 1 && (op == "sub" || op == "div")) break;
          const auto found = anchors.find(node.inputs[side]);
          if (found == anchors.end() || !used_once(node.inputs[side]) ||
              !same_shape(graph, node.inputs[side], node.outputs[0]))
            continue;
          const auto channels = graph.value(node.inputs[side]).type.shape.back().known();
          const auto numbers =
              channels ? per_channel(graph, node.inputs[1 - side], *channels) : std::nullopt;
          if (!numbers) continue;
          std::vector<double> scale(numbers->size(), 1.0), shift(numbers->size(), 0.0);
          for (size_t c = 0; c < numbers->size(); ++c) {
            const double x = (*numbers)[c];
            if (op == "mul")
              scale[c] = x;
            else if (op == "div")
              scale[c] = 1 / x;
            else
              shift[c] = op == "add" ? x : -x;
            if (!std::isfinite(scale[c]) || !std::isfinite(shift[c])) return none;
          }
          const ir::Node anchor = found->second;
          const bool scales = op == "mul" || op == "div";
          const ir::ValueId weights =
              scales ? TRY(scaled_weights(b, anchor, scale)) : anchor.inputs[1];
          const ir::ValueId bias = TRY(new_bias(b, anchor, scale, shift));
          ir::Node made = anchor;
          made.inputs = {anchor.inputs[0], weights, bias};
          made.outputs = {TRY(b.op(anchor.op->name, made.inputs, anchor.attrs))};
          anchors[made.outputs[0]] = made;
          return std::optional(made.outputs);
        }
        return none;
      }));
  remove_dead_nodes(graph);
  return fired;
}

}  // namespace tw::passes
