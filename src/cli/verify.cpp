// verify.cpp: `tilewright verify`: a compiled model against the meaning of its operators.
//
// Three comparisons, so that a failure names its cause. Layers: each node of the optimised graph is
// compiled alone, fed with reference values and held against its reference. Passes: the optimised
// graph, evaluated by references, is held against the imported graph evaluated so. Model: the
// outputs of the whole program are held against the imported graph's (or against --expect).
//
// Some models magnify rounding, so each layer also runs on what the layers before it gave. How far
// this chain ends from the references is rounding as the model magnifies it; the whole program,
// which does the same in one piece, may be off by twice that. Where only it is off by more, the
// fault is in what joins layers (memory, order, views): --bisect compiles the graph up to one layer
// after another, by halves, and names the first whose value differs from the chain's.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/layers.h"
#include "cli/load.h"
#include "cli/tolerance.h"
#include "ir/evaluate.h"
#include "ir/op_def.h"
#include "passes/pipeline.h"

namespace tw::cli {
namespace {

Result<void> check_range(std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos)
    return error(Code::kInvalidArgument, "'", value, "' is not A:B");
  for (const std::string_view part : {value.substr(0, colon), value.substr(colon + 1)})
    if (!part.empty()) TRY(check_not_negative(part));
  return {};
}

constexpr Option kOptions[] = {
    kInputOption,
    {.name = "--inputs",
     .value = "DIR",
     .help = "a folder of inputs: NAME.npy each, or ONNX's input_0.pb, input_1.pb ..."},
    {.name = "--expect",
     .value = "DIR",
     .help = "a folder of outputs to compare the model's with, in place of the references': "
             "NAME.npy or output_0.pb ..."},
    {.name = "--seed",
     .value = "S",
     .check = check_not_negative,
     .help = "of random inputs (default 0)"},
    {.name = "--layers",
     .value = "A:B",
     .check = check_range,
     .help = "compare only layers A to B - 1 of the optimised graph, and not the whole"},
    {.name = "--bisect", .help = "find the first layer that is wrong in the whole program"},
    kShapesOption,
    kTargetOption,
    kPrecisionOption,
    kIsaOption,
    {.name = "--portable", .help = "with plain weights"},
    {.name = "--skip-pass", .value = "NAME", .repeats = true, .help = "leave an optimisation out"},
    kMeanOption,
    kStdOption,
    kBgrOption,
    kNhwcOption,
    kThreadsOption,
};

std::string layer_name(const ir::Graph& graph, size_t i) {
  return cat("layer ", i, " '", graph.nodes[i].name, "' (", graph.nodes[i].op->name, ")");
}

/// The values of a graph while its nodes are evaluated in order, each kept until its last use.
class Values {
 public:
  Values(const ir::Graph& graph, const std::vector<Tensor>& inputs)
      : graph_(graph), values_(graph.values.size()), uses_(ir::use_counts(graph)) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = graph.values[i].constant;
    for (size_t i = 0; i < inputs.size(); ++i) at(graph.inputs[i]) = inputs[i];
  }

  std::vector<const Tensor*> operands(const ir::Node& node) {
    std::vector<const Tensor*> list;
    for (const ir::ValueId id : node.inputs)
      list.push_back(id == ir::kNoValue ? nullptr : &*at(id));
    return list;
  }
  void finish(const ir::Node& node, const std::vector<Tensor>& outputs) {
    for (const ir::ValueId id : node.inputs)
      if (id != ir::kNoValue && --uses_[static_cast<size_t>(id)] == 0) at(id).reset();
    for (size_t o = 0; o < outputs.size(); ++o)
      if (node.outputs[o] != ir::kNoValue) at(node.outputs[o]) = outputs[o];
  }
  std::vector<Tensor> outputs() {
    std::vector<Tensor> list;
    for (const ir::ValueId id : graph_.outputs) list.push_back(*at(id));
    return list;
  }

 private:
  std::optional<Tensor>& at(ir::ValueId id) { return values_[static_cast<size_t>(id)]; }

  const ir::Graph& graph_;
  std::vector<std::optional<Tensor>> values_;
  std::vector<int> uses_;
};

/// One model under test and what it is held against.
class Verification {
 public:
  Verification(const Arguments& arguments, Console& console)
      : arguments_(arguments), console_(console) {}

  Result<void> run() {
    TRY(prepare());
    TRY(evaluate_imported());
    TRY(check_layers());
    if (!arguments_.has("--layers")) TRY(check_model());
    console_.print("verified\n");
    return {};
  }

 private:
  Result<void> prepare();
  Result<void> evaluate_imported();
  Result<void> check_layers();
  Result<void> check_layer(size_t i, const std::vector<const Tensor*>& operands,
                           const std::vector<Tensor>& reference);
  Result<void> report_layers();
  Result<void> check_passes(const std::vector<Tensor>& outputs);
  Result<void> check_model();
  Result<size_t> first_wrong_prefix();
  bool in_range(size_t i) const { return i >= first_layer_ && i < last_layer_; }
  /// K of the whole model: the longest sum of a layer times the number of layers that sum.
  double model_terms() const {
    return static_cast<double>(longest_sum_) * static_cast<double>(std::max<size_t>(n_sums_, 1));
  }

  const Arguments& arguments_;
  Console& console_;
  api::BuildOptions options_;
  ir::Graph imported_, optimised_;
  std::vector<Tensor> inputs_, expected_;
  std::vector<std::vector<Tensor>> chain_;  // of each layer, kept for --bisect
  size_t first_layer_ = 0, last_layer_ = 0;
  int64_t longest_sum_ = 1;
  size_t n_sums_ = 0;
  // By output: how far the chain ends from the references.
  std::vector<double> noise_;
  // What the layers' comparison found.
  size_t n_checked_ = 0, worst_layer_ = 0;
  double worst_share_ = 0;
  std::optional<std::string> first_wrong_;
  std::vector<std::string> not_alone_;
};

Result<void> Verification::prepare() {
  const std::string& path = arguments_.operands()[0];
  if (plan::looks_like_plan(path))
    return error(Code::kInvalidArgument, "'", path,
                 "' is a plan, which holds no references; give the model it was built from");
  options_ = build_options(arguments_, cat("tilewright verify ", shell_word(path)), console_);
  imported_ = TRY(api::load_graph(path, options_.model));
  const std::vector<plan::Port> ports = ports_of(imported_, imported_.inputs);
  std::vector<std::string> sources = arguments_.values("--input");
  if (const auto folder = arguments_.value("--inputs")) {
    if (!sources.empty())
      return error(Code::kInvalidArgument, "--inputs and --input cannot be combined");
    inputs_ = TRY(read_folder(*folder, ports, "input"));
  } else {
    const auto seed = static_cast<uint64_t>(arguments_.integer("--seed", 0));
    inputs_ = TRY(read_inputs(ports, sources, image_options(arguments_), options_.model.shapes,
                              seed, console_));
  }
  optimised_ = imported_;
  passes::PipelineOptions passes;
  passes.skip = options_.skip_passes;
  TRY(passes::optimize(optimised_, passes));
  last_layer_ = optimised_.nodes.size();
  if (const auto range = arguments_.value("--layers")) {
    const size_t colon = range->find(':');
    if (colon > 0) first_layer_ = std::stoull(range->substr(0, colon));
    if (colon + 1 < range->size())
      last_layer_ = std::min<size_t>(last_layer_, std::stoull(range->substr(colon + 1)));
  }
  return {};
}

Result<void> Verification::evaluate_imported() {
  const std::vector<plan::Port> ports = ports_of(imported_, imported_.outputs);
  if (const auto folder = arguments_.value("--expect")) {
    expected_ = TRY(read_folder(*folder, ports, "output"));
    return {};
  }
  size_t done = 0;
  const auto on_node = [&](const ir::Node&, const std::vector<Tensor>&) {
    console_.progress("reference of the model",
                      static_cast<double>(++done) / static_cast<double>(imported_.nodes.size()));
  };
  expected_ = TRY(ir::evaluate_graph(imported_, inputs_, on_node).in("reference"));
  return {};
}

/// Compares one layer, run alone on reference values.
Result<void> Verification::check_layer(size_t i, const std::vector<const Tensor*>& operands,
                                       const std::vector<Tensor>& reference) {
  const ir::Node& node = optimised_.nodes[i];
  const int64_t terms = longest_sum(node, operands, reference);
  longest_sum_ = std::max(longest_sum_, terms);
  if (terms > 1) ++n_sums_;
  if (!in_range(i)) return {};
  const std::vector<Tensor> found = TRY(run_layer(optimised_, node, operands, options_));
  ++n_checked_;
  for (size_t o = 0; o < reference.size(); ++o) {
    if (node.outputs[o] == ir::kNoValue) continue;
    const Difference difference =
        compare(found[o], reference[o], static_cast<double>(terms), operands);
    if (difference.share() > worst_share_) {
      worst_share_ = difference.share();
      worst_layer_ = i;
    }
    if (!difference.ok() && !first_wrong_)
      first_wrong_ = cat(layer_name(optimised_, i), " output ", o, " ", difference);
  }
  return {};
}

Result<void> Verification::check_layers() {
  Values references(optimised_, inputs_), chained(optimised_, inputs_);
  const size_t n = optimised_.nodes.size();
  for (size_t i = 0; i < n; ++i) {
    const ir::Node& node = optimised_.nodes[i];
    console_.progress(layer_name(optimised_, i), static_cast<double>(i) / static_cast<double>(n));
    const std::vector<const Tensor*> operands = references.operands(node);
    const std::vector<Tensor> reference = TRY(ir::evaluate_node(node, operands));
    std::vector<Tensor> next = reference;
    const auto alone = check_layer(i, operands, reference);
    if (!alone.ok())
      not_alone_.push_back(cat(layer_name(optimised_, i), ": ", alone.error().message));
    else if (!arguments_.has("--layers"))
      next = TRY(run_layer(optimised_, node, chained.operands(node), options_)
                     .in(layer_name(optimised_, i)));
    references.finish(node, reference);
    chained.finish(node, next);
    if (arguments_.has("--bisect")) chain_.push_back(std::move(next));
  }
  TRY(report_layers());
  const std::vector<Tensor> outputs = references.outputs(), chain_ends = chained.outputs();
  for (size_t o = 0; o < outputs.size(); ++o)
    noise_.push_back(compare(chain_ends[o], outputs[o], 1, {}).largest);
  return check_passes(outputs);
}

Result<void> Verification::report_layers() {
  console_.clear_progress();
  console_.print(cat("layers: ", n_checked_, " of ", optimised_.nodes.size(), " compared alone"));
  if (n_checked_ > 0)
    console_.print(cat(", nearest to its bound: ", fixed(100 * worst_share_, 1), "% at ",
                       layer_name(optimised_, worst_layer_)));
  console_.print("\n");
  for (const std::string& sentence : not_alone_)
    console_.note(cat("not compared alone: ", sentence));
  if (first_wrong_) return error(Code::kInternal, *first_wrong_);
  return {};
}

Result<void> Verification::check_passes(const std::vector<Tensor>& outputs) {
  if (arguments_.has("--expect")) return {};  // what is expected is not the references'
  for (size_t o = 0; o < expected_.size(); ++o) {
    const Difference difference = compare(outputs[o], expected_[o], model_terms(), {});
    if (!difference.ok())
      return error(Code::kInternal, "passes change the meaning: output '",
                   imported_.value(imported_.outputs[o]).name, "' ", difference);
  }
  console_.print("passes: the optimised graph means the same\n");
  return {};
}

Result<void> Verification::check_model() {
  console_.progress("whole model", 1);
  runtime::EngineOptions engine_options;
  engine_options.threads = static_cast<int>(arguments_.integer("--threads", 0));
  plan::Plan plan = TRY(api::compile_graph(imported_, "", options_));
  runtime::Context context(TRY(runtime::Engine::make(std::move(plan), engine_options)));
  const std::vector<Tensor> found = TRY(context.run(inputs_).in("whole model"));
  console_.clear_progress();
  std::optional<std::string> wrong;
  for (size_t o = 0; o < found.size(); ++o) {
    Difference difference = compare(found[o], expected_[o], model_terms(), {});
    difference.bound = std::max(difference.bound, 2 * noise_[o]);
    const std::string& name = imported_.value(imported_.outputs[o]).name;
    if (difference.ok())
      console_.print(
          cat("output ", name, ": ", fixed(100 * difference.share(), 1), "% of its bound\n"));
    else if (!wrong)
      wrong = cat("output '", name, "' ", difference);
  }
  if (!wrong) return {};
  if (!arguments_.has("--bisect"))
    return error(Code::kInternal, *wrong, "; --bisect finds the layer");
  const size_t layer = TRY(first_wrong_prefix());
  if (layer == optimised_.nodes.size())
    return error(Code::kInternal, *wrong, "; every layer is right when the program ends there");
  return error(Code::kInternal, *wrong, "; the first wrong value is that of ",
               layer_name(optimised_, layer));
}

Result<size_t> Verification::first_wrong_prefix() {
  // Layers below `right` are right; layer `wrong` is not, or is the end.
  size_t right = 0, wrong = optimised_.nodes.size();
  while (right < wrong) {
    const size_t middle = (right + wrong) / 2;
    console_.progress(cat("up to ", layer_name(optimised_, middle)), 0.5);
    const ir::Node& node = optimised_.nodes[middle];
    bool ok = true;
    for (size_t o = 0; o < node.outputs.size() && ok; ++o) {
      if (node.outputs[o] == ir::kNoValue) continue;
      const Tensor found = TRY(run_up_to(optimised_, node.outputs[o], inputs_, options_)
                                   .in(layer_name(optimised_, middle)));
      ok = compare(found, chain_[middle][o], model_terms(), {}).ok();
    }
    if (ok)
      right = middle + 1;
    else
      wrong = middle;
  }
  console_.clear_progress();
  return wrong;
}

Result<void> run_verify(const Arguments& arguments, Console& console) {
  return Verification(arguments, console).run();
}

}  // namespace

const Command kVerifyCommand = {
    .name = "verify",
    .summary = "Compares a compiled model with the meaning of its operators, layer by layer.",
    .operands = "MODEL.onnx",
    .min_operands = 1,
    .max_operands = 1,
    .details =
        "Inputs that are not given are random. A layer is one node after optimisation; it runs "
        "alone, on reference values.",
    .options = kOptions,
    .example =
        "tilewright verify model.onnx --shapes input_ids:2x16,attention_mask:2x16\n"
        "tilewright verify model.onnx --inputs test_data_set_0 --expect test_data_set_0 --bisect",
    .run = run_verify,
};

}  // namespace tw::cli
