// fold_constants: nodes whose results are known become constants: all inputs constant, or integers
// that shapes determine.
#include "ir/evaluate.h"
#include "ir/infer.h"
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

/// A result that is larger than this and than what it was made from stays a computation: weights
/// are stored, not blown up.
constexpr int64_t kMaxGrowthBytes = int64_t{1} << 16;

std::optional<Tensor> known_ints(const ir::Value& value) {
  const auto dims = ir::concrete(value.type.shape);
  if (!value.ints || !dims || element_count(*dims) != static_cast<int64_t>(value.ints->size()))
    return std::nullopt;
  auto made = Tensor::try_make(value.type.dtype, *dims);
  if (!made.ok()) return std::nullopt;
  Tensor tensor = std::move(made).take();
  for (size_t i = 0; i < value.ints->size(); ++i) {
    if (!(*value.ints)[i].is_constant()) return std::nullopt;
    tensor.set_int(static_cast<int64_t>(i), (*value.ints)[i].constant());
  }
  return tensor;
}

Result<std::optional<std::vector<Tensor>>> fold(const ir::Graph& graph, const ir::Node& node) {
  std::vector<Tensor> known;
  for (const ir::ValueId id : node.outputs) {
    auto tensor = id == ir::kNoValue ? std::nullopt : known_ints(graph.value(id));
    if (tensor) known.push_back(std::move(*tensor));
  }
  if (known.size() == node.outputs.size()) return std::optional(std::move(known));
  std::vector<const Tensor*> inputs;
  int64_t input_bytes = 0, output_bytes = 0;
  for (const ir::ValueId id : node.inputs) {
    if (id != ir::kNoValue && !graph.value(id).constant)
      return std::optional<std::vector<Tensor>>();
    inputs.push_back(id == ir::kNoValue ? nullptr : &*graph.value(id).constant);
    if (id != ir::kNoValue) input_bytes += graph.value(id).constant->bytes();
  }
  for (const ir::ValueId id : node.outputs) {
    if (id == ir::kNoValue) continue;
    const ir::TensorType& type = graph.value(id).type;
    if (const auto dims = ir::concrete(type.shape))
      output_bytes += element_count(*dims) * size_bytes(type.dtype);
  }
  if (output_bytes > input_bytes + kMaxGrowthBytes) return std::optional<std::vector<Tensor>>();
  return std::optional(TRY(ir::evaluate_node(node, inputs)));
}

}  // namespace

Result<int> fold_constants(ir::Graph& graph) {
  const int fired = TRY(
      rewrite_nodes(graph,
                    [&](const ir::Node& node,
                        ir::GraphBuilder& b) -> Result<std::optional<std::vector<ir::ValueId>>> {
                      auto tensors = TRY(fold(graph, node));
                      if (!tensors) return std::optional<std::vector<ir::ValueId>>();
                      std::vector<ir::ValueId> values;
                      for (size_t i = 0; i < node.outputs.size(); ++i) {
                        if (node.outputs[i] == ir::kNoValue) {
                          values.push_back(ir::kNoValue);
                          continue;
                        }
                        values.push_back(b.constant(std::move((*tensors)[i])));
                        graph.value(values.back()).name = graph.value(node.outputs[i]).name;
                        graph.value(node.outputs[i]).name += " (folded)";
                      }
                      return std::optional(std::move(values));
                    }));
  // Sizes that only data could tell may follow from the new constants; ops lower by what they see.
  if (fired > 0) TRY(ir::infer_graph(graph));
  return fired;
}

}  // namespace tw::passes
