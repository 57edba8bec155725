// lower_precision: arithmetic of an f32 graph in the float type that was asked for. Products of
// tensors work in it, and so does what follows them, as long as it keeps the range of its inputs;
// what can leave that range (powers, exponentials, sums) and all that only f32 values feed stays in
// f32. Inputs and outputs of the graph keep their types. Statistics inside softmax, norms and
// attention are f32 whatever the tensors are.
#include <algorithm>
#include <cmath>

#include "ir/infer.h"
#include "passes/edit.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

/// Work in the low type whatever feeds them.
constexpr std::string_view kProducts[] = {"linear",         "matmul",    "conv",
                                          "conv_transpose", "attention", "qkv_attention"};

/// Results as large as their inputs' at most, or sums that a product bounds: low when all that
/// feeds them is low.
constexpr std::string_view kFollowers[] = {"average_pool",
                                           "concat",
                                           "depth_to_space",
                                           "expand",
                                           "flatten",
                                           "gather",
                                           "global_average_pool",
                                           "global_max_pool",
                                           "identity",
                                           "layer_normalization",
                                           "max_pool",
                                           "pad",
                                           "reduce_max",
                                           "reduce_mean",
                                           "reduce_min",
                                           "reshape",
                                           "resize",
                                           "rms_norm",
                                           "slice",
                                           "softmax",
                                           "space_to_depth",
                                           "split",
                                           "squeeze",
                                           "tile",
                                           "transpose",
                                           "unsqueeze"};

/// Elementwise, but what they give can be far beyond what they take.
constexpr std::string_view kWide[] = {"cast", "cast_like",  "cosh", "div", "exp",  "log",
                                      "pow",  "reciprocal", "sinh", "tan", "sqrt", "fused"};

template <size_t N>
bool is_in(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Inputs that an op takes as f32 beside low ones.
bool stays_high(const ir::Node& node, size_t input) {
  return (node.op->name == "attention" && input == 3) ||
         (node.op->name == "qkv_attention" && input == 1);
}

class Lowering {
 public:
  Lowering(ir::Graph& graph, DType low) : graph_(graph), low_(low) {
    for (size_t i = 0; i < graph.values.size(); ++i)
      if (graph.values[i].type.dtype == DType::kF32) was_high_.insert(static_cast<ir::ValueId>(i));
  }

  Result<int> run() {
    std::vector<ir::Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    int fired = 0;
    for (ir::Node& node : nodes) {
      const bool low = is_low(node);
      const std::vector<ir::ValueId> before = node.inputs;
      const DType type_before = type_of(node.outputs[0]);
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] != ir::kNoValue)
          node.inputs[i] =
              TRY(low && !stays_high(node, i) ? lowered(node.inputs[i]) : raised(node.inputs[i]));
      if (low) TRY(ir::infer_node(graph_, node));
      // One that works in the low type already is no change.
      const bool changes = before != node.inputs || type_before != type_of(node.outputs[0]);
      fired += low && changes ? 1 : 0;
      graph_.nodes.push_back(std::move(node));
    }
    for (ir::ValueId& id : graph_.outputs) id = TRY(raised(id));
    return fired;
  }

 private:
  bool is_low(const ir::Node& node) const {
    const std::string_view op = node.op->name;
    if (is_in(kProducts, op))
      return type_of(node.inputs[0]) == DType::kF32 || type_of(node.inputs[0]) == low_;
    const bool follows = is_in(kFollowers, op) || (is_pointwise(node) && !is_in(kWide, op));
    if (!follows) return false;
    bool any = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::ValueId id = node.inputs[i];
      if (id == ir::kNoValue || graph_.value(id).constant.has_value()) continue;
      if (type_of(id) == DType::kF32) return false;
      any |= type_of(id) == low_;
    }
    // A table of constants that integers look up, such as an embedding.
    const bool table = op == "gather" && graph_.value(node.inputs[0]).constant.has_value() &&
                       type_of(node.inputs[0]) == DType::kF32;
    return any || table;
  }

  DType type_of(ir::ValueId id) const { return graph_.value(id).type.dtype; }

  /// The low form of an f32 value; other values as they are.
  Result<ir::ValueId> lowered(ir::ValueId id) {
    if (type_of(id) != DType::kF32) return id;
    const auto found = lowered_.find(id);
    if (found != lowered_.end()) return found->second;
    const auto& constant = graph_.value(id).constant;
    const ir::ValueId made = constant ? graph_.add_constant(cat(graph_.value(id).name, ".", low_),
                                                            TRY(convert(*constant)))
                                      : TRY(cast(id, low_));
    lowered_[id] = made;
    return made;
  }

  /// The f32 form of a low value that stood for f32 before; others as they are.
  Result<ir::ValueId> raised(ir::ValueId id) {
    if (type_of(id) != low_ || !was_high_.contains(id)) return id;
    const auto found = raised_.find(id);
    if (found != raised_.end()) return found->second;
    const ir::ValueId made = TRY(cast(id, DType::kF32));
    raised_[id] = made;
    return made;
  }

  Result<ir::ValueId> cast(ir::ValueId id, DType dtype) {
    static const ir::OpDef* const op = ir::find_op("cast");
    CHECK(op != nullptr, "there is an op 'cast'");
    ir::Value value;
    value.name = cat(graph_.value(id).name, ".", dtype);
    value.type = {dtype, graph_.value(id).type.shape};
    const ir::ValueId made = graph_.add_value(std::move(value));
    ir::Node node;
    node.op = op;
    node.name = graph_.value(made).name;
    node.inputs = {id};
    node.outputs = {made};
    node.attrs["to"] = std::string(dtype_name(dtype));
    TRY(ir::infer_node(graph_, node));
    graph_.nodes.push_back(std::move(node));
    return made;
  }

  /// Finite values beyond the type's range become its largest.
  Result<Tensor> convert(const Tensor& tensor) const {
    constexpr double kLargestF16 = 65504;
    Tensor made = TRY(Tensor::try_make(low_, tensor.dims()));
    for (int64_t i = 0; i < tensor.count(); ++i) {
      double value = tensor.float_at(i);
      if (low_ == DType::kF16 && std::isfinite(value))
        value = std::clamp(value, -kLargestF16, kLargestF16);
      made.set_float(i, value);
    }
    return made;
  }

  ir::Graph& graph_;
  DType low_;
  std::map<ir::ValueId, ir::ValueId> lowered_, raised_;
  std::set<ir::ValueId> was_high_;  // a graph's own values of the low type stay what they are
};

}  // namespace

Result<int> lower_precision(ir::Graph& graph) {
  if (!graph.compute_type || *graph.compute_type == DType::kF32) return 0;
  return Lowering(graph, *graph.compute_type).run();
}

}  // namespace tw::passes
