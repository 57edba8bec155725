// Variants by ranges of sizes, from timing caches made by hand: what a builder without a GPU sees.
#include "backends/cuda/build/tactics.h"

#include <filesystem>
#include <fstream>

#include "backends/cuda/build/sizes.h"
#include "backends/cuda/build/timing_cache.h"
#include "task/test_programs.h"
#include "task/variants.h"

namespace tw::cuda {
namespace {

using task::value_or_fail;

/// y = x w, where x has `rows` rows of 64 elements and w 32 columns; then y's ReLU.
task::Draft product(const Dim& rows) {
  task::DraftBuilder b;
  const task::SlotId x = b.root(task::Space::kInput, {rows, Dim(64)}, "x", DType::kF16);
  const task::SlotId w = b.root(task::Space::kWeight, {Dim(64), Dim(32)}, "w", DType::kF16);
  const task::SlotId h = b.root(task::Space::kArena, {rows, Dim(32)}, "h", DType::kF16);
  const task::SlotId y = b.root(task::Space::kOutput, {rows, Dim(32)}, "y", DType::kF16);
  b.draft.inputs = {x};
  b.draft.outputs = {y};
  task::GemmTask gemm;
  gemm.a.id = x, gemm.b.id = w, gemm.c.id = h;
  b.emit(gemm, "product");
  b.unary(h, y, "relu");
  return b.draft;
}

task::Program at_32(const task::Draft& draft) {
  return value_or_fail(task::build_program(draft, {"n"}, {32}, {}));
}

/// The name of the product in a timing cache when n is `size`.
std::string name_at(const task::Program& program, int64_t size) {
  const task::Program other = value_or_fail(task::instantiate(program, {size}));
  for (const task::Record& record : other.records)
    if (has_variants(record)) return signature({record, other.slots, other.side});
  return "";
}

class Tactics : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::temp_directory_path() /
         ("tactics_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name())))
            .string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// A timing cache with a variant for each size; it was made where there is no GPU.
  void write_cache(const task::Program& program,
                   const std::vector<std::pair<int64_t, int>>& variants) {
    std::string warning;
    TimingCache cache = TimingCache::read(path_, cat(" kernels ", kernels_version()), warning);
    for (const auto& [size, variant] : variants) cache.add(name_at(program, size), {variant, 1.5});
    ASSERT_TRUE(cache.write(path_).ok());
  }
  std::vector<task::Draft::Task> choose(const task::Program& program, const task::Draft& draft) {
    std::vector<task::Draft::Task> tasks = draft.tasks;
    const auto chosen = choose_variants(program, tasks, {path_, false}, reports_);
    EXPECT_TRUE(chosen.ok());
    return tasks;
  }

  std::string path_;
  std::vector<std::string> reports_;
};

TEST_F(Tactics, RangesFollowFromATimingCache) {
  const task::Draft draft = product(Dim::symbol("n"));
  const task::Program program = at_32(draft);
  write_cache(program, {{1, 23}, {4, 23}, {16, 21}, {32, 21}, {128, 35}, {512, 31}});
  const auto tasks = choose(program, draft);
  EXPECT_EQ(to_string(tasks[0].variants),
            "23 to 256 elements, 21 to 2048 elements, 35 to 8192 elements, 31 beyond");
  EXPECT_EQ(tasks[0].record.variant, 21);
  EXPECT_TRUE(tasks[1].variants.empty());
  EXPECT_EQ(reports_, (std::vector<std::string>{
                          "product: variant by size of the result: 23 to 256 elements, 21 to 2048 "
                          "elements, 35 to 8192 elements, 31 beyond"}));
}

TEST_F(Tactics, SizesThatTheCacheLacksHaveNoSay) {
  const task::Draft draft = product(Dim::symbol("n"));
  const task::Program program = at_32(draft);
  write_cache(program, {{1, 23}, {64, 7}, {512, 31}});
  const auto tasks = choose(program, draft);
  EXPECT_EQ(to_string(tasks[0].variants), "23 to 724 elements, 31 beyond");
  EXPECT_EQ(tasks[0].record.variant, 31);  // 1024 elements
}

TEST_F(Tactics, SizesThatCannotBeInstantiatedAreDropped) {
  const task::Draft draft = product(Dim::symbol("n") - Dim(16));  // n is more than 16
  const task::Program program = at_32(draft);
  write_cache(program, {{32, 23}, {128, 35}, {512, 31}});
  EXPECT_EQ(to_string(choose(program, draft)[0].variants),
            "23 to 1354 elements, 35 to 7542 elements, 31 beyond");
}

TEST_F(Tactics, ACacheOfOneSizeGivesAVariantAndNoRanges) {
  const task::Draft draft = product(Dim::symbol("n"));
  const task::Program program = at_32(draft);
  write_cache(program, {{32, 21}});
  const auto tasks = choose(program, draft);
  EXPECT_EQ(tasks[0].record.variant, 21);
  EXPECT_TRUE(tasks[0].variants.empty());
  EXPECT_TRUE(reports_.empty());
}

TEST_F(Tactics, FixedSizesHaveAVariantAndNoRanges) {
  const task::Draft draft = product(Dim(32)), open = product(Dim::symbol("n"));
  const task::Program program = value_or_fail(task::build_program(draft, {}, {}, {}));
  write_cache(at_32(open), {{1, 23}, {32, 21}, {128, 35}});
  const auto tasks = choose(program, draft);
  EXPECT_EQ(tasks[0].record.variant, 21);
  EXPECT_TRUE(tasks[0].variants.empty());
}

TEST_F(Tactics, WithoutACacheOrAGpuTheCostModelChooses) {
  const task::Draft draft = product(Dim::symbol("n"));
  const auto tasks = choose(at_32(draft), draft);
  EXPECT_EQ(tasks[0].record.variant, 0);
  EXPECT_TRUE(tasks[0].variants.empty());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Tactics, OfAForeignCacheAreIgnoredWithAWarning) {
  const task::Draft draft = product(Dim::symbol("n"));
  std::ofstream(path_) << "tilewright timing cache 1\nanother device\n1 1 gemm\n";
  EXPECT_TRUE(choose(at_32(draft), draft)[0].variants.empty());
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_NE(reports_[0].find("is ignored: made for 'another device'"), std::string::npos);
}

TEST(MeasuredSizes, OfABatchOfSequencesIncludeASingleOne) {
  task::DraftBuilder b;
  const std::vector<Dim> dims{Dim::symbol("n"), Dim::symbol("length")};
  const task::SlotId x = b.input(dims, "x"), y = b.output(dims, "y");
  b.unary(x, y, "relu");
  const auto program = value_or_fail(task::build_program(b.draft, {"length", "n"}, {32, 32}, {}));
  EXPECT_EQ(measured_sizes(program)[0], (std::vector<int64_t>{128, 1}));
  EXPECT_EQ(measured_sizes(program)[1], (std::vector<int64_t>{128, 16}));
}

TEST(MeasuredSizes, OfFixedShapesAreNone) {
  const auto program = value_or_fail(task::build_program(product(Dim(8)), {}, {}, {}));
  EXPECT_TRUE(measured_sizes(program).empty());
  EXPECT_TRUE(kernel_sizes(program).empty());
}

}  // namespace
}  // namespace tw::cuda
