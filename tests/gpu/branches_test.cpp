// branches_test.cpp: branches on streams of their own give what they give one after another.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "backends/cuda/build/target.h"
#include "compiler/compile.h"
#include "ir/contexts.h"
#include "runtime/engine.h"
#include "tests/gpu/graph_input.h"

namespace tw::gpu {
namespace {

constexpr int64_t kSize = 512;

/// Three branches of unequal length from x [rows, 512], each with a weight of its own; a branch
/// takes up what the one before it ends with, so that there are waits on the way too.
Result<plan::Plan> three_branches(int queues, const Dim& rows) {
  ir::Graph graph;
  graph.name = "three_branches";
  const ir::ValueId x = add_input(graph, "x", DType::kF32, {rows, Dim(kSize)});
  std::vector<ir::ValueId> weights;
  for (const char* name : {"u", "v", "w"})
    weights.push_back(add_input(graph, name, DType::kF32, {Dim(kSize), Dim(kSize)}));
  ir::GraphBuilder b(graph, graph.nodes, "n");
  std::vector<ir::ValueId> ends;
  for (int branch = 0; branch < 3; ++branch) {
    const ir::ValueId w = weights[static_cast<size_t>(branch)];
    ir::ValueId value = TRY(b.op("matmul", {x, w}));
    for (int length = 0; length < 2 * branch; ++length) {
      if (!ends.empty() && length % 2 == 1) value = TRY(b.op("add", {value, ends.back()}));
      value = TRY(b.op("matmul", {TRY(b.op("tanh", {value})), w}));
    }
    ends.push_back(TRY(b.op("softmax", {value}, {{"axis", int64_t{1}}})));
  }
  const ir::ValueId sum = TRY(b.op("add", {ends[0], ends[1]}));
  graph.outputs = {TRY(b.op("add", {sum, ends[2]})), ends[1]};
  cuda::TargetOptions options;
  options.tactics.measure = false;
  options.queues = queues;
  return compiler::compile(std::move(graph), *cuda::make_target(options), {});
}

size_t n_queues(const plan::Plan& plan) {
  size_t most = 0;
  for (const task::Program& program : plan.programs) most = std::max(most, program.queues.size());
  return most;
}

std::vector<Tensor> answers(runtime::Context& context, int64_t rows) {
  const Dims weight{kSize, kSize};
  return value_of(context.run({counting({rows, kSize}, 1e-6), counting(weight, 1e-7),
                               counting(weight, 2e-7), counting(weight, 3e-7)}));
}

void expect_equal_bits(const std::vector<Tensor>& found, const std::vector<Tensor>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(std::equal(found[i].data(), found[i].data() + found[i].bytes(), wanted[i].data()))
        << "output " << i;
}

TEST(Branches, SpreadOverTheQueuesThatThereAre) {
  EXPECT_EQ(n_queues(value_of(three_branches(1, Dim(kSize)))), 1U);
  EXPECT_EQ(n_queues(value_of(three_branches(4, Dim(kSize)))), 3U);
}

TEST(Branches, GiveTheSameBitsOnStreamsOfTheirOwn) {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) GTEST_SKIP() << "no GPU";
  std::vector<std::vector<Tensor>> wanted;
  for (const int queues : {1, 2, 4}) {
    const auto engine =
        value_of(runtime::Engine::make(value_of(three_branches(queues, Dim::symbol("R"))), {}));
    runtime::Context context(engine);
    size_t size = 0;
    for (const int64_t rows : {kSize, int64_t{3}, int64_t{200}, kSize}) {
      if (queues == 1) wanted.push_back(answers(context, rows));
      for (int run = 0; run < 8; ++run)  // launched, captured, replayed
        expect_equal_bits(answers(context, rows), wanted[size]);
      ++size;
    }
  }
}

}  // namespace
}  // namespace tw::gpu
