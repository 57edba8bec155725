// fuse_epilogue: elementwise nodes that follow a linear, matmul or conv run on its results while
// they are in cache. Each other operand must be as large as the result, a row of its last dim, or
// one element, so that it can be read tile by tile.
#include "passes/fuse_body.h"
#include "passes/pipeline.h"

namespace tw::passes {
namespace {

constexpr size_t kMaxExtra = 7;      // operands of the task besides its own
constexpr size_t kMaxEpilogue = 12;  // nodes

/// Types whose sums are f32.
bool is_sum_type(const ir::Graph& graph, ir::ValueId id) {
  const DType dtype = graph.value(id).type.dtype;
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

bool is_anchor(const ir::Graph& graph, const ir::Node& node) {
  const std::string_view op = node.op->name;
  if (op != "linear" && op != "matmul" && op != "conv") return false;
  if (op == "matmul" && (graph.value(node.inputs[0]).type.shape.size() < 2 ||
                         graph.value(node.inputs[1]).type.shape.size() < 2))
    return false;
  if (op == "conv" && ir::NodeView(node).attr_string("layout") != "nhwc") return false;
  return is_sum_type(graph, node.outputs[0]);
}

/// A gemm may see its result as rows, whatever dims were merged; a conv keeps its dims, so any
/// broadcast along them will do.
bool fits(const ir::Graph& graph, ir::ValueId operand, ir::ValueId result, bool keeps_dims) {
  const ir::Shape& own = graph.value(operand).type.shape;
  const ir::Shape& shape = graph.value(result).type.shape;
  if (own == shape) return true;
  if (ir::element_count(own) == Dim(1) && own.size() <= 1) return true;
  if (ir::element_count(own) == shape.back() && own.back() == shape.back()) return true;
  bool broadcasts = keeps_dims && own.size() == shape.size();
  for (size_t d = 0; broadcasts && d < own.size(); ++d)
    broadcasts = own[d] == shape[d] || own[d] == Dim(1);
  return broadcasts;
}

/// The node can end the chain whose result is `result`: same shape and type, other operands that
/// fit.
bool extends(const ir::Graph& graph, const ir::Node& node, ir::ValueId result,
             ir::ValueId anchor_result, bool keeps_dims) {
  if (!is_pointwise(node) || !same_shape(graph, node.outputs[0], anchor_result) ||
      !is_sum_type(graph, node.outputs[0]))
    return false;
  for (const ir::ValueId id : node.inputs)
    if (id != ir::kNoValue && id != result && !fits(graph, id, anchor_result, keeps_dims))
      return false;
  return true;
}

}  // namespace

Result<int> fuse_epilogue(ir::Graph& graph) {
  const Neighbours around(graph);
  std::vector<std::vector<size_t>> users(graph.values.size());
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ir::ValueId id : graph.nodes[n].inputs)
      if (id != ir::kNoValue) users[static_cast<size_t>(id)].push_back(n);
  std::vector<Group> groups;
  std::vector<bool> taken(graph.nodes.size(), false);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!is_anchor(graph, graph.nodes[n])) continue;
    Group group{n};
    const ir::ValueId anchor_result = graph.nodes[n].outputs[0];
    ir::ValueId result = anchor_result;
    // A residual is used twice by one node at most; then the two uses are the same node and the
    // chain may go on.
    while (group.size() <= kMaxEpilogue) {
      const auto& next = users[static_cast<size_t>(result)];
      if (next.empty() || around.uses(result) != static_cast<int>(next.size()) ||
          next.front() != next.back())
        break;
      const ir::Node& node = graph.nodes[next.front()];
      if (taken[next.front()] ||
          !extends(graph, node, result, anchor_result, graph.nodes[n].op->name == "conv"))
        break;
      Group longer = group;
      longer.push_back(next.front());
      if (outside_inputs(graph, longer).size() > kMaxExtra) break;
      group = std::move(longer);
      result = node.outputs[0];
    }
    if (group.size() < 2) continue;
    for (const size_t member : group) taken[member] = true;
    groups.push_back(std::move(group));
  }
  return replace_groups(graph, groups);
}

}  // namespace tw::passes
