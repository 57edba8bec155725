// A small plan as `inspect --print` shows it: schedule, memory and waits of its program. Portable
// and for the least instruction set, so that it is the same on every machine.
#include <gtest/gtest.h>

#include "backends/cpu/build/target.h"
#include "compiler/compile.h"
#include "golden_file.h"
#include "ir/contexts.h"

namespace tw::goldens {
namespace {

/// Two linears that share an input, and their sum: branches, an epilogue, memory used again.
Result<ir::Graph> two_branches() {
  ir::Graph graph;
  graph.name = "two_branches";
  ir::Value x;
  x.name = "x";
  x.type = {DType::kF32, {Dim::symbol("rows"), Dim(8)}};
  graph.inputs = {graph.add_value(std::move(x))};
  ir::GraphBuilder b(graph, graph.nodes, "n");
  const auto weights = [&](double number) -> Result<ir::ValueId> {
    Tensor tensor = TRY(Tensor::try_make(DType::kF32, Dims{8, 8}));
    for (int64_t i = 0; i < tensor.count(); ++i) tensor.set_float(i, number);
    return b.constant(std::move(tensor));
  };
  const ir::ValueId left = TRY(b.op("matmul", {graph.inputs[0], TRY(weights(0.5))}));
  const ir::ValueId right = TRY(b.op("softmax", {TRY(b.op("relu", {graph.inputs[0]}))}));
  const ir::ValueId sum = TRY(b.op("add", {TRY(b.op("softmax", {left})), right}));
  graph.outputs = {TRY(b.op("matmul", {sum, TRY(weights(0.25))}))};
  return graph;
}

Result<plan::Plan> compiled(int workers, const ir::Graph& graph) {
  compiler::CompileOptions options;
  options.workers = workers;
  return compiler::compile(graph, *cpu::make_target(cpu::Isa::kSse42, true), options);
}

void expect_plan(const char* file, const Result<plan::Plan>& plan) {
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::string text;
  for (const task::Program& program : plan.value().programs) text += task::print(program);
  expect_golden(file, text);
}

TEST(PlanGolden, WholeOpsOnQueuesWithOpenSizes) {
  const auto graph = two_branches();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  expect_plan("plans/two_branches.txt", compiled(1, graph.value()));
}

TEST(PlanGolden, TilesForThreeWorkers) {
  auto graph = two_branches();
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  for (ir::Value& value : graph.value().values)
    for (Dim& dim : value.type.shape)
      dim = dim.substitute([](const std::string&) { return Dim(96); });
  expect_plan("plans/two_branches_3_workers.txt", compiled(3, graph.value()));
}

}  // namespace
}  // namespace tw::goldens
