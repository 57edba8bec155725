#include "compiler/compile.h"

#include <algorithm>
#include <cstdlib>

#include "ir/verify.h"
#include "planner/lowering.h"

namespace tw::compiler {
namespace {

/// Sizes that open symbols are tried with: the first at which every program can be built. Programs
/// stay open for others.
constexpr int64_t kSampleSizes[] = {32, 64, 16, 128, 8, 4, 224, 320, 640, 2, 1, 0};

std::vector<std::string> symbols_of(const task::Draft& draft) {
  std::set<std::string> symbols;
  const auto collect = [&](const Dim& dim) {
    dim.for_each_symbol([&](const std::string& name) { symbols.insert(name); });
  };
  for (const task::Draft::Slot& slot : draft.slots) {
    for (const Dim& dim : slot.dims) collect(dim);
    for (const Dim& stride : slot.strides) collect(stride);
    collect(slot.offset_elems);
    collect(slot.storage_bytes);
  }
  return {symbols.begin(), symbols.end()};
}

Result<task::Program> build(const task::Draft& draft, const CompileOptions& options) {
  const std::vector<std::string> symbols = symbols_of(draft);
  if (options.workers > 1 && !symbols.empty())
    return error(Code::kInvalidArgument, "tiles for ", options.workers,
                 " workers need every size fixed, '", symbols.front(), "' is open: give --shapes");
  task::BuildOptions build_options;
  build_options.workers = options.workers;
  std::optional<Error> first_failure;
  for (const int64_t size : kSampleSizes) {
    auto program = task::build_program(draft, symbols, std::vector<int64_t>(symbols.size(), size),
                                       build_options);
    if (program.ok()) return program;
    if (!first_failure) first_failure = program.error();
    if (symbols.empty()) break;
  }
  return *first_failure;
}

/// Weights one after another in memory that the plan owns.
Result<void> place_weights(const planner::Lowered& lowered, plan::Plan& plan) {
  if (lowered.weight_bytes == 0) return {};
  void* memory = std::aligned_alloc(64, static_cast<size_t>(lowered.weight_bytes));
  if (memory == nullptr)
    return error(Code::kOutOfMemory, "no memory for ", lowered.weight_bytes, " bytes of weights");
  plan.weights_owner =
      std::shared_ptr<const void>(memory, [](const void* p) { std::free(const_cast<void*>(p)); });
  auto* bytes = static_cast<std::byte*>(memory);
  std::memset(bytes, 0, static_cast<size_t>(lowered.weight_bytes));
  for (const planner::Weight& weight : lowered.weights)
    if (weight.stored_bytes() > 0)
      std::memcpy(bytes + weight.offset_bytes, weight.stored(),
                  static_cast<size_t>(weight.stored_bytes()));
  plan.weights = {bytes, static_cast<size_t>(lowered.weight_bytes)};
  return {};
}

}  // namespace

Result<plan::Plan> compile(ir::Graph graph, const planner::TargetServices& target,
                           const CompileOptions& options) {
  const auto report = [&](const char* step, double fraction) {
    if (options.progress) options.progress(step, fraction);
  };
  plan::Plan plan;
  TRY(ir::verify(graph));

  // A pass may find that an output is a value that stands elsewhere too; the signature keeps the
  // model's names.
  std::vector<std::string> output_names;
  for (const ir::ValueId id : graph.outputs) output_names.push_back(graph.value(id).name);

  report("optimize", 0.1);
  passes::PipelineOptions passes;
  passes.skip = options.skip_passes;
  passes.on_pass = [&](const char* pass, int fired, const ir::Graph& after) {
    plan.reports.push_back(cat(after.name, ": pass ", pass, " fired ", fired, " times, ",
                               after.nodes.size(), " nodes"));
  };
  TRY(passes::optimize(graph, passes));

  report("lower", 0.5);
  planner::Lowered lowered = TRY(planner::lower(graph, target));

  report("schedule", 0.7);
  for (size_t i = 0; i < lowered.drafts.size(); ++i) {
    plan.programs.push_back(
        TRY(build(lowered.drafts[i], options).in(cat("program '", lowered.draft_names[i], "'"))));
    plan.program_names.push_back(lowered.draft_names[i]);
  }

  report("weights", 0.9);
  TRY(place_weights(lowered, plan));
  plan.main = std::move(lowered.main);
  for (size_t i = 0; i < output_names.size(); ++i) plan.main.outputs[i].name = output_names[i];
  plan.contract = {{"target", target.name()},
                   {"kernel_abi", cat(plan::kKernelAbi)},
                   {"model", options.model_hash},
                   {"workers", cat(options.workers)}};
  for (const auto& [key, value] : options.describe) plan.contract.emplace_back(key, value);
  return plan;
}

}  // namespace tw::compiler
