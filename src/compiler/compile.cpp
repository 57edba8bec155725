#include "compiler/compile.h"

#include <algorithm>

#include "base/memory.h"
#include "ir/op_def.h"
#include "ir/verify.h"
#include "planner/lowering.h"
#include "planner/place.h"

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

/// The sizes of open symbols at which the draft can be built first.
struct Sample {
  std::vector<std::string> symbols;
  std::vector<int64_t> sizes;
  task::BuildOptions options;
};

std::set<std::string> input_symbols(const plan::Procedure& main) {
  std::set<std::string> symbols;
  for (const plan::Port& port : main.inputs)
    for (const Dim& dim : port.shape)
      dim.for_each_symbol([&](const std::string& name) { symbols.insert(name); });
  return symbols;
}

/// Sizes to try: one for all; then, for those that only data will tell, the least there are: a list
/// may hold fewer elements than the inputs have rows.
std::vector<std::vector<int64_t>> sizes_to_try(const std::vector<std::string>& symbols,
                                               const std::set<std::string>& of_inputs) {
  std::vector<std::vector<int64_t>> all;
  for (const int64_t size : kSampleSizes)
    for (const int64_t from_data : {size, int64_t{1}, int64_t{0}}) {
      std::vector<int64_t> sizes;
      for (const std::string& symbol : symbols)
        sizes.push_back(of_inputs.contains(symbol) ? size : from_data);
      if (all.empty() || sizes != all.back()) all.push_back(std::move(sizes));
    }
  return all;
}

Result<task::Program> build_at_sample(const task::Draft& draft, const plan::Procedure& main,
                                      Sample& sample) {
  std::optional<Error> first_failure;
  for (std::vector<int64_t>& sizes : sizes_to_try(sample.symbols, input_symbols(main))) {
    sample.sizes = std::move(sizes);
    auto program = task::build_program(draft, sample.symbols, sample.sizes, sample.options);
    if (program.ok()) return program;
    if (!first_failure) first_failure = program.error();
  }
  return *first_failure;
}

/// The same program with its tasks on host and device, as the target can take them.
Result<task::Program> build_placed(task::Draft draft, const task::Program& on_host,
                                   const Sample& sample, const planner::TargetServices& target,
                                   std::vector<std::string>& reports) {
  TRY(target.choose_tactics(on_host, draft.tasks, reports));
  std::vector<uint8_t> places(draft.tasks.size(), planner::kDevice);
  for (task::Record record : on_host.records) {
    if (record.kind == task::Tasks::number_of<task::JoinTask>()) continue;
    const task::Draft::Task& one = draft.tasks[record.op];
    record.flags = one.record.flags;
    record.variant = one.record.variant;
    const auto reason = target.declines(record, on_host.slots, on_host.side);
    if (!reason) continue;
    places[record.op] = planner::kHost;
    reports.push_back(cat(one.name, ": runs on the host: ", *reason));
  }
  return task::build_program(TRY(planner::place_tasks(draft, places)), sample.symbols, sample.sizes,
                             sample.options);
}

Result<task::Program> build(const task::Draft& draft, const plan::Procedure& main,
                            const planner::TargetServices& target, const CompileOptions& options,
                            std::vector<std::string>& reports) {
  Sample sample{symbols_of(draft), {}, {}};
  if (options.workers > 1 && !sample.symbols.empty())
    return error(Code::kInvalidArgument, "tiles for ", options.workers,
                 " workers need every size fixed, '", sample.symbols.front(),
                 "' is open: give --shapes");
  if (options.workers > 1 && target.has_device())
    return error(Code::kInvalidArgument, "tiles for ", options.workers,
                 " workers are for the CPU, the target is '", target.name(), "'");
  sample.options.workers = options.workers;
  sample.options.queues = target.n_queues();
  sample.options.queue_kind = target.queue_kind();
  task::Program program = TRY(build_at_sample(draft, main, sample));
  if (!target.has_device()) return program;
  return build_placed(draft, program, sample, target, reports);
}

/// Names the nodes that work in f32 although another type was asked for.
void report_kept_high(const ir::Graph& graph, std::vector<std::string>& reports) {
  if (!graph.compute_type || *graph.compute_type == DType::kF32) return;
  for (const ir::Node& node : graph.nodes)
    if (!node.outputs.empty() && node.outputs[0] != ir::kNoValue &&
        graph.value(node.outputs[0]).type.dtype == DType::kF32)
      reports.push_back(cat(node.name, ": ", node.op->name, " stays f32"));
}

/// Weights one after another in memory that the plan owns.
Result<void> place_weights(const planner::Lowered& lowered, plan::Plan& plan) {
  if (lowered.weight_bytes == 0) return {};
  const std::shared_ptr<std::byte> memory = TRY(try_alloc(lowered.weight_bytes).in("weights"));
  plan.weights_owner = memory;
  std::byte* bytes = memory.get();
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

  graph.compute_type = options.compute_type;
  report("optimize", 0.1);
  passes::PipelineOptions passes;
  passes.skip = options.skip_passes;
  passes.on_pass = [&](const char* pass, int fired, const ir::Graph& after) {
    plan.reports.push_back(cat(after.name, ": pass ", pass, " fired ", fired, " times, ",
                               after.nodes.size(), " nodes"));
  };
  TRY(passes::optimize(graph, passes));

  report_kept_high(graph, plan.reports);

  report("lower", 0.5);
  planner::Lowered lowered = TRY(planner::lower(graph, target));

  report("schedule", 0.7);
  for (size_t i = 0; i < lowered.drafts.size(); ++i) {
    plan.programs.push_back(
        TRY(build(lowered.drafts[i], lowered.main, target, options, plan.reports)
                .in(cat("program '", lowered.draft_names[i], "'"))));
    plan.program_names.push_back(lowered.draft_names[i]);
  }

  report("kernels", 0.8);
  plan.kernels = TRY(target.compile_kernels(plan.programs));

  report("weights", 0.9);
  TRY(place_weights(lowered, plan));
  plan.main = std::move(lowered.main);
  for (size_t i = 0; i < output_names.size(); ++i) plan.main.outputs[i].name = output_names[i];
  plan.contract = {{"target", target.name()},
                   {"kernel_abi", cat(plan::kKernelAbi)},
                   {"model", options.model_hash},
                   {"workers", cat(options.workers)}};
  for (auto& entry : target.contract()) plan.contract.push_back(std::move(entry));
  for (const auto& [key, value] : options.describe) plan.contract.emplace_back(key, value);
  return plan;
}

}  // namespace tw::compiler
