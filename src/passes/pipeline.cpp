#include "passes/pipeline.h"

#include "ir/infer.h"
#include "ir/verify.h"
#include "passes/edit.h"

namespace tw::passes {
namespace {

constexpr Pass kPipeline[] = {
    {"inline_known_if", inline_known_if},  // first: what only a branch hides is open to all others
    {"fold_constants",
     fold_constants},  // later patterns match literals, not the arithmetic of shapes
    {"remove_no_ops", remove_no_ops},        // an identity between two nodes hides every pattern
    {"lift_shapes", lift_shapes},            // what only its shape is asked of is used once more
    {"eliminate_common", eliminate_common},  // before fusions, which would tell equal nodes apart
    {"eliminate_dead", eliminate_dead},      // uses are counted by what is needed
    {"fuse_gelu", fuse_gelu},                // before its parts go into larger fusions
    {"fuse_hard_swish", fuse_hard_swish},    // likewise
    {"fuse_linear", fuse_linear},            // before attention: projections are no part of it
    {"fuse_attention", fuse_attention},      // before decomposition, while softmax still stands
    {"decompose_unlowered", decompose_unlowered},  // what follows sees only ops that lower
    {"fold_decomposed", fold_constants},           // decompositions compute on weights
    {"merge_transposes",
     merge_transposes},  // attention and conv bring their own next to the exporter's
    {"sink_transposes", sink_transposes},  // the rest moves down until it meets its inverse
    {"merge_sunk", merge_transposes},      // which it meets here
    {"fold_sunk", fold_constants},         // constants that moved along
    {"remove_moves", remove_no_ops},       // merged transposes may move nothing
    {"fuse_linear_again", fuse_linear},    // decompositions make products too
    {"fold_affine", fold_affine},          // needs channels last; before epilogues take the nodes
    {"fuse_hard_swish_again", fuse_hard_swish},    // normalisations in between are gone
    {"eliminate_common_again", eliminate_common},  // decompositions repeat each other
    {"eliminate_dead_again", eliminate_dead},      // the sources of merged transposes
    {"fuse_qkv", fuse_qkv},                // before the casts come between product and attention
    {"lower_precision", lower_precision},  // the casts it makes go into the fusions below
    {"fuse_epilogue", fuse_epilogue},      // before elementwise fusion, which would take its nodes
    {"fuse_elementwise", fuse_elementwise},  // last: everything that is left between tasks
};

// What a late pass uncovers an early one may use; more rounds than this would be passes that undo
// each other.
constexpr int kMaxRounds = 8;

/// All passes once; how often they fired. After the first round only those that did are told.
Result<int> run_round(ir::Graph& graph, const PipelineOptions& options, bool is_first) {
  int total = 0;
  for (const Pass& pass : kPipeline) {
    if (options.skip.contains(pass.name)) continue;
    const int fired = TRY(pass.run(graph).in(cat("pass ", pass.name)));
    TRY(ir::verify(graph).in(cat("after pass ", pass.name)));
    total += fired;
    if (options.on_pass && (is_first || fired > 0)) options.on_pass(pass.name, fired, graph);
  }
  return total;
}

Result<void> run(ir::Graph& graph, const PipelineOptions& options) {
  for (int round = 0; round < kMaxRounds; ++round)
    if (TRY(run_round(graph, options, round == 0)) == 0) break;
  return {};
}

/// Inputs of a control node's body as the node sees them: captures and slices from its inputs,
/// carried values from its outputs, whose types hold for every iteration.
std::vector<ir::TensorType> body_input_types(const ir::Graph& graph, const ir::Node& node) {
  const ir::NodeView view(node);
  std::vector<ir::TensorType> types;
  const auto in = [&](size_t i) { return graph.value(node.inputs[i]).type; };
  if (node.op->name == "if") {
    for (size_t i = 1; i < node.inputs.size(); ++i) types.push_back(in(i));
    return types;
  }
  const auto n_carried = static_cast<size_t>(view.attr_int("n_carried"));
  const bool loop = node.op->name == "loop";
  if (loop) types = {{DType::kI64, {}}, {DType::kBool, {}}};
  for (size_t i = 0; i < n_carried; ++i) types.push_back(graph.value(node.outputs[i]).type);
  const size_t n_sliced = loop ? 0 : static_cast<size_t>(view.attr_int("num_scan_inputs"));
  for (size_t i = (loop ? 2 : 0) + n_carried; i < node.inputs.size(); ++i) {
    types.push_back(in(i));
    if (types.size() <= n_carried + n_sliced && !loop)
      types.back().shape.erase(types.back().shape.begin());
  }
  return types;
}

Result<void> optimize_bodies(ir::Graph& graph, const PipelineOptions& options) {
  for (ir::Node& node : graph.nodes) {
    if (!is_control(node)) continue;
    const std::vector<ir::TensorType> types = body_input_types(graph, node);
    for (auto& [name, attr] : node.attrs) {
      auto* body = std::get_if<std::shared_ptr<const ir::Graph>>(&attr);
      if (body == nullptr) continue;
      ir::Graph copy = **body;
      copy.n_fresh_symbols = graph.n_fresh_symbols;
      copy.compute_type = graph.compute_type;
      for (size_t i = 0; i < copy.inputs.size(); ++i) copy.value(copy.inputs[i]).type = types[i];
      const std::string place = cat("node '", node.name, "', ", name);
      TRY(ir::infer_graph(copy).in(place));
      TRY(optimize(copy, options).in(place));
      graph.n_fresh_symbols = copy.n_fresh_symbols;
      *body = std::make_shared<const ir::Graph>(std::move(copy));
    }
  }
  return {};
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

Result<void> optimize(ir::Graph& graph, const PipelineOptions& options) {
  TRY(optimize_bodies(graph, options));
  return run(graph, options);
}

}  // namespace tw::passes
