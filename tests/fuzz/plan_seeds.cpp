// Plans to start from: every step of a procedure, open sizes with and without ranges of variants,
// tiles for several workers, and one op case in five through all kinds of tasks.
#include "plan_seeds.h"

#include <algorithm>

#include "backends/cpu/build/target.h"
#include "compiler/compile.h"
#include "frontends/onnx/test_models.h"
#include "ir/op_case.h"
#include "ir/op_def.h"
#include "plan_bytes.h"
#include "task/variants.h"

namespace tw::fuzz {
namespace {

constexpr size_t kCaseStep = 5;
constexpr size_t kMaxSeed = 64 << 10;

/// Two ranges for every other op whose sizes are open.
void add_ranges(task::Program& program) {
  if (!program.is_parametric()) return;
  for (uint32_t op = 0; op < program.op_names.size(); op += 2)
    for (const int64_t up_to : {int64_t{100}, task::VariantRange::kNoBound}) {
      task::VariantRange range;
      range.up_to_elems = up_to;
      range.op = op;
      range.variant = up_to == 100 ? 1 : 2;
      program.parametric.variants.push_back(range);
    }
  task::pick_variants(program.parametric.variants, program.slots, program.records);
}

Result<Bytes> compiled(const ir::Graph& graph, int workers, bool portable) {
  compiler::CompileOptions options;
  options.workers = workers;
  plan::Plan plan =
      TRY(compiler::compile(graph, *cpu::make_target(cpu::best_isa(), portable), options));
  if (!portable) std::for_each(plan.programs.begin(), plan.programs.end(), add_ranges);
  return bytes_of(plan);
}

Bytes model_plan(size_t i) {
  using Make = onnx::pb::ModelProto (*)();
  constexpr Make kModels[] = {onnx::mlp_model, onnx::if_model, onnx::loop_model, onnx::scan_model,
                              onnx::function_model};
  const auto graph = onnx::import_model(kModels[i / 2]());
  if (!graph.ok()) fail(graph.error().message);
  auto bytes = compiled(graph.value(), 1, i % 2 == 0);
  if (!bytes.ok()) fail(bytes.error().message);
  return std::move(bytes).take();
}

std::vector<std::pair<const ir::OpDef*, std::string_view>> chosen_cases() {
  std::vector<std::pair<const ir::OpDef*, std::string_view>> chosen;
  size_t n = 0;
  for (const ir::OpDef* op : ir::op_table())
    for (const std::string_view text : op->cases)
      if (n++ % kCaseStep == 0) chosen.emplace_back(op, text);
  return chosen;
}

}  // namespace

size_t n_plan_seeds() { return kModelPlans + chosen_cases().size(); }

Bytes make_plan_seed(size_t i) {
  if (i < kModelPlans) return model_plan(i);
  const auto [op, text] = chosen_cases()[i - kModelPlans];
  auto made = ir::make_case(*op, text, i);
  if (!made.ok()) fail(made.error().message);
  auto bytes = compiled(made.value().graph, i % 3 == 0 ? 3 : 1, i % 2 == 0);
  // A few cases declare sizes that a plan leaves to its callers, and production shapes are too
  // large to try often.
  return bytes.ok() && bytes.value().size() <= kMaxSeed ? std::move(bytes).take()
                                                        : model_plan(i % kModelPlans);
}

}  // namespace tw::fuzz
