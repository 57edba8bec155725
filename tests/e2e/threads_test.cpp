// Several threads at one engine: each has a context of its own, all meet new sizes at once, and
// programs are dropped while others still run them. Under TSan this is the test of the runtime.
#include <atomic>
#include <thread>

#include "backends/cpu/build/target.h"
#include "compiler/compile.h"
#include "graphs.h"
#include "ir/evaluate.h"

namespace tw::e2e {
namespace {

constexpr int kThreads = 4;
constexpr int kRunsAThread = 24;

/// Branches over several queues: softmax(x w) + tanh(x), then a product.
ir::Graph branches() {
  GraphMaker g;
  const ir::ValueId x = g.input("x", DType::kF32, {Dim::symbol("n"), Dim(2)});
  const ir::ValueId w = g.b().constant(floats({2, 2}, {1, -1, 0.5, 2}));
  const ir::ValueId left = g.op("softmax", {g.op("matmul", {x, w})});
  const ir::ValueId sum = g.op("add", {left, g.op("tanh", {x})});
  g.graph.outputs = {g.op("matmul", {sum, w})};
  return g.graph;
}

Tensor rows(int64_t n) {
  std::vector<double> values;
  for (int64_t i = 0; i < 2 * n; ++i) values.push_back(static_cast<double>(i % 7) / 4 - 1);
  return floats({n, 2}, values);
}

std::shared_ptr<const runtime::Engine> shared_engine(size_t max_instances) {
  plan::Plan plan =
      value_or_fail(compiler::compile(branches(), *cpu::make_target(cpu::best_isa(), false), {}));
  runtime::EngineOptions options;
  options.threads = 3;
  options.max_instances = max_instances;
  return value_or_fail(runtime::Engine::make(std::move(plan), options));
}

/// `work(t)` on kThreads threads at once.
template <class Work>
void on_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back([&work, t] { work(t); });
  for (std::thread& thread : threads) thread.join();
}

void expect_same_on_all_threads(cpu::Order order) {
  const auto engine = shared_engine(2);
  std::vector<std::vector<Tensor>> wanted;
  for (int64_t n = 0; n < 6; ++n) {
    runtime::Context context(engine);
    wanted.push_back(value_or_fail(context.run({rows(n)})));
  }
  std::atomic<int> n_wrong{0};
  on_threads([&](int t) {
    runtime::Context context(engine);
    for (int i = 0; i < kRunsAThread; ++i) {
      const auto n = static_cast<size_t>((i * (t + 1)) % 6);
      const auto found = context.run({rows(static_cast<int64_t>(n))}, {order, 0});
      n_wrong += found.ok() && same_bits(found.value(), wanted[n]) ? 0 : 1;
    }
  });
  EXPECT_EQ(n_wrong, 0);
}

TEST(Threads, ContextsOfOneEngineMeetNewSizesAtOnce) {
  expect_same_on_all_threads(cpu::Order::kSequence);
}

TEST(Threads, ContextsOfOneEngineRunTheirQueuesAtOnce) {
  expect_same_on_all_threads(cpu::Order::kQueues);
}

TEST(Threads, EnginesComeAndGoWhileOthersRun) {
  const std::vector<Tensor> wanted =
      value_or_fail(runtime::Context(shared_engine(2)).run({rows(5)}));
  std::atomic<int> n_wrong{0};
  on_threads([&](int) {
    for (int i = 0; i < 4; ++i) {
      const auto found = runtime::Context(shared_engine(2)).run({rows(5)});
      n_wrong += found.ok() && same_bits(found.value(), wanted) ? 0 : 1;
    }
  });
  EXPECT_EQ(n_wrong, 0);
}

TEST(Threads, OneContextRefusesASecondCallerOrServesHim) {
  runtime::Context context(shared_engine(8));
  const std::vector<Tensor> wanted = value_or_fail(context.run({rows(5)}));
  std::atomic<int> n_wrong{0}, n_served{0};
  on_threads([&](int) {
    for (int i = 0; i < kRunsAThread; ++i) {
      const auto found = context.run({rows(5)});
      n_served += found.ok() ? 1 : 0;
      const bool right = found.ok() ? same_bits(found.value(), wanted)
                                    : found.error().code == Code::kInvalidArgument;
      n_wrong += right ? 0 : 1;
    }
  });
  EXPECT_EQ(n_wrong, 0);
  EXPECT_GT(n_served, 0);
}

}  // namespace
}  // namespace tw::e2e
