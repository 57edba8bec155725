// index_errors_test.cpp: a run with an index out of range fails with the CPU's sentence, and the
// engine is none the worse for it: launched, captured, and with another context at work.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "backends/cuda/build/target.h"
#include "compiler/compile.h"
#include "ir/contexts.h"
#include "runtime/engine.h"
#include "tests/gpu/graph_input.h"

namespace tw::gpu {
namespace {

Tensor indices(const std::vector<int64_t>& values) {
  Tensor tensor =
      value_of(Tensor::try_make(DType::kI64, Dims{static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) tensor.set_int(static_cast<int64_t>(i), values[i]);
  return tensor;
}

/// y = rows of x [9, 8] by i, then columns of those by j; where `tail`, nonzero of y, which runs on
/// the host between stretches of device work.
Result<plan::Plan> two_gathers(bool tail) {
  ir::Graph graph;
  graph.name = "two_gathers";
  const ir::ValueId x = add_input(graph, "x", DType::kF32, {Dim(9), Dim(8)});
  const ir::ValueId i = add_input(graph, "i", DType::kI64, {Dim(4)}),
                    j = add_input(graph, "j", DType::kI64, {Dim(3)});
  ir::GraphBuilder b(graph, graph.nodes, "n");
  const ir::ValueId rows = TRY(b.op("gather", {x, i}, {{"axis", int64_t{0}}}));
  const ir::ValueId y = TRY(b.op("gather", {rows, j}, {{"axis", int64_t{1}}}));
  graph.outputs = {tail ? TRY(b.op("non_zero", {y})) : y};
  return compiler::compile(std::move(graph), *cuda::make_target({false, {"", false}}), {});
}

class IndexErrors : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) GTEST_SKIP() << "no GPU";
    runtime::EngineOptions options;
    options.threads = 1;
    engine_ = value_of(runtime::Engine::make(value_of(two_gathers(GetParam())), options));
  }

  static std::string failure(runtime::Context& context, const std::vector<int64_t>& i,
                             const std::vector<int64_t>& j) {
    const auto run = context.run({counting({9, 8}), indices(i), indices(j)});
    return run.ok() ? "" : run.error().message;
  }
  /// A run with good indices, some counted from the end.
  static void expect_good(runtime::Context& context) {
    const auto run = context.run({counting({9, 8}), indices({1, -9, 8, 2}), indices({7, -8, 3})});
    ASSERT_TRUE(run.ok()) << run.error().message;
    const double wanted[] = {15, 8, 11, 7, 0, 3, 71, 64, 67, 23, 16, 19};
    if (GetParam()) {
      EXPECT_EQ(run.value()[0].dims(), (Dims{2, 11}));  // one of the twelve is 0
      return;
    }
    for (int64_t k = 0; k < 12; ++k) EXPECT_EQ(run.value()[0].float_at(k), wanted[k]) << k;
  }

  std::shared_ptr<const runtime::Engine> engine_;
};

constexpr const char* kRow = "index 9 on axis 0 is out of range: expected -9 to 8";
constexpr const char* kColumn = "index -9 on axis 1 is out of range: expected -8 to 7";

bool ends_with(const std::string& text, std::string_view end) { return text.ends_with(end); }

TEST_P(IndexErrors, AreOfTheRunThatHasThem) {
  runtime::Context context(engine_);
  for (int round = 0; round < 4; ++round) {  // launched, captured, replayed
    EXPECT_PRED2(ends_with, failure(context, {0, 9, 0, 0}, {0, 0, 0}), kRow);
    expect_good(context);
    EXPECT_PRED2(ends_with, failure(context, {0, 0, 0, 0}, {0, 0, -9}), kColumn);
    EXPECT_PRED2(ends_with, failure(context, {0, 0, 0, 9}, {-9, 0, 0}), kRow);  // the first task's
    expect_good(context);
  }
}

TEST_P(IndexErrors, AreOfTheContextThatHasThem) {
  runtime::Context one(engine_), other(engine_);
  for (int round = 0; round < 3; ++round) {
    EXPECT_PRED2(ends_with, failure(one, {9, 0, 0, 0}, {0, 0, 0}), kRow);
    expect_good(other);
    expect_good(one);
  }
}

TEST_P(IndexErrors, AreInvalidArgumentsAndNameTheTask) {
  runtime::Context context(engine_);
  const auto run = context.run({counting({9, 8}), indices({0, 0, 9, 0}), indices({0, 0, 0})});
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, Code::kInvalidArgument);
  EXPECT_NE(run.error().message.find("(gather 'n"), std::string::npos) << run.error().message;
}

INSTANTIATE_TEST_SUITE_P(Programs, IndexErrors, testing::Bool(), [](const auto& one) {
  return one.param ? "WithWorkOfTheHost" : "OfTheDeviceAlone";
});

}  // namespace
}  // namespace tw::gpu
