// plan_bytes_test.cpp: a GPU plan built twice has the same bytes, its contract names what it was
// built with, and it has the kernels of every variant that a size may pick. Needs no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/cuda/build/target.h"
#include "backends/cuda/build/timing_cache.h"
#include "backends/cuda/nvrtc.h"
#include "compiler/compile.h"
#include "ir/contexts.h"
#include "tests/gpu/graph_input.h"

namespace tw::gpu {
namespace {

Result<ir::Graph> rows_of_a_product(const Dim& n, int64_t k) {
  ir::Graph graph;
  graph.name = "rows_of_a_product";
  const ir::ValueId x = add_input(graph, "x", DType::kF32, {n, Dim(k)});
  const ir::ValueId rows = add_input(graph, "rows", DType::kI64, {Dim(4)});
  ir::GraphBuilder b(graph, graph.nodes, "n");
  Tensor weight = TRY(Tensor::try_make(DType::kF32, Dims{k, k}));
  for (int64_t i = 0; i < weight.count(); ++i) weight.set_float(i, 0.25);
  const ir::ValueId product = TRY(b.op("matmul", {x, b.constant(std::move(weight))}));
  graph.outputs = {TRY(b.op("gather", {product, rows}, {{"axis", int64_t{0}}}))};
  return graph;
}

/// The plan as a file, measuring nothing: variants come from `timing_cache` or the cost model.
Result<void> build(const std::string& path, const std::string& timing_cache, const Dim& n = Dim(16),
                   int64_t k = 64) {
  compiler::CompileOptions options;
  options.compute_type = DType::kF16;
  const plan::Plan plan = TRY(compiler::compile(
      TRY(rows_of_a_product(n, k)), *cuda::make_target({false, {timing_cache, false}}), options));
  TRY(plan::write_plan(plan, path));
  return {};
}

std::string read_all(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// What a timing cache would hold had each of these variants been found best at its size.
void write_cache(const std::string& path, const task::Program& program,
                 const std::vector<std::pair<int64_t, int>>& variants) {
  std::string warning;
  auto cache = cuda::TimingCache::read(path, cat(" kernels ", cuda::kernels_version()), warning);
  for (const auto& [size, variant] : variants) {
    const task::Program other = value_of(task::instantiate(program, {size}));
    for (const task::Record& record : other.records)
      if (cuda::has_variants(record))
        cache.add(cuda::signature({record, other.slots, other.side}), {variant, 1});
  }
  ASSERT_TRUE(cache.write(path).ok());
}

/// How many launches of the program have no kernel in the plan.
int n_missing(const plan::Plan& plan, const task::Program& program) {
  int n = 0;
  for (const task::Record& record : program.records) {
    if (record.kind == task::Tasks::number_of<task::JoinTask>()) continue;
    const auto launches = cuda::make_launches({record, program.slots, program.side});
    for (const cuda::Launch& launch : value_of(launches))
      n += std::ranges::count(plan.kernels, launch.source, &plan::Kernel::source) == 1 ? 0 : 1;
  }
  return n;
}

class GpuPlan : public testing::Test {
 protected:
  void SetUp() override {
    const auto nvrtc = cuda::nvrtc_version();
    if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
    nvrtc_ = nvrtc.value();
    folder_ =
        std::filesystem::temp_directory_path() /
        (std::string("gpu_plan_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  std::string nvrtc_;
};

TEST_F(GpuPlan, HasTheSameBytesTwice) {
  ASSERT_TRUE(build(file("one"), file("timings")).ok());
  ASSERT_TRUE(build(file("two"), file("timings")).ok());
  const std::string one = read_all(file("one"));
  EXPECT_FALSE(one.empty());
  EXPECT_TRUE(one == read_all(file("two")));
}

TEST_F(GpuPlan, WithRangesOfVariantsHasTheSameBytesForEqualCaches) {
  ASSERT_TRUE(build(file("untimed"), "", Dim::symbol("n")).ok());
  const plan::Plan untimed = value_of(plan::read_plan(file("untimed")));
  EXPECT_TRUE(untimed.programs[0].parametric.variants.empty());
  write_cache(file("timings"), untimed.programs[0], {{1, 23}, {16, 21}, {128, 35}, {512, 31}});
  const std::string timings = read_all(file("timings"));
  ASSERT_TRUE(build(file("one"), file("timings"), Dim::symbol("n")).ok());
  ASSERT_TRUE(build(file("two"), file("timings"), Dim::symbol("n")).ok());
  EXPECT_EQ(value_of(plan::read_plan(file("one"))).programs[0].parametric.variants.size(), 4U);
  EXPECT_TRUE(read_all(file("one")) == read_all(file("two")));
  EXPECT_TRUE(read_all(file("one")) != read_all(file("untimed")));
  EXPECT_EQ(read_all(file("timings")), timings);
}

TEST_F(GpuPlan, HasTheKernelsOfWhateverARangePicks) {
  ASSERT_TRUE(build(file("untimed"), "", Dim::symbol("n")).ok());
  write_cache(file("timings"), value_of(plan::read_plan(file("untimed"))).programs[0],
              {{1, 23}, {16, 21}, {128, 35}, {512, 31}});
  ASSERT_TRUE(build(file("plan"), file("timings"), Dim::symbol("n")).ok());
  const plan::Plan plan = value_of(plan::read_plan(file("plan")));
  for (int64_t n = 1; n < 700; ++n)
    EXPECT_EQ(n_missing(plan, value_of(task::instantiate(plan.programs[0], {n}))), 0) << n;
}

TEST_F(GpuPlan, StreamsAFewRowsOfALargeProductAndHasTheKernels) {
  ASSERT_TRUE(build(file("plan"), "", Dim::symbol("n"), 1024).ok());
  const plan::Plan plan = value_of(plan::read_plan(file("plan")));
  for (int64_t n = 1; n < 80; ++n) {
    const task::Program program = value_of(task::instantiate(plan.programs[0], {n}));
    EXPECT_EQ(n_missing(plan, program), 0) << n;
    const auto streams = [&](const task::Record& record) {
      return record.kind == task::Tasks::number_of<task::GemmTask>() &&
             value_of(cuda::make_launches({record, program.slots, program.side}))[0].source.find(
                 "run_stream") != std::string::npos;
    };
    EXPECT_EQ(std::ranges::any_of(program.records, streams), n <= 16) << n;
  }
}

TEST_F(GpuPlan, NamesItsVersionsInTheContract) {
  const Result<void> built = build(file("plan"), "");
  ASSERT_TRUE(built.ok()) << built.error().message;
  const auto plan = plan::read_plan(file("plan"));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const auto value = [&](std::string_view key) {
    return plan::contract_value(plan.value().contract, key);
  };
  EXPECT_EQ(value("target"), "sm_90");
  EXPECT_EQ(value("compute_target"), "sm_90a");
  EXPECT_EQ(value("cuda_driver"), "13.0");
  EXPECT_EQ(value("nvrtc"), nvrtc_);
  EXPECT_FALSE(value("kernels").empty());
}

}  // namespace
}  // namespace tw::gpu
