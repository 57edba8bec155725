// Each pass on a small graph, before and after, as text; and the pipeline holds no pass without.
#include <gtest/gtest.h>

#include <algorithm>

#include "golden_file.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "pass_graphs.h"

namespace tw::goldens {
namespace {

class EachPass : public testing::TestWithParam<PassGraph> {};

TEST_P(EachPass, TurnsItsGraphIntoTheGolden) {
  const PassGraph& golden = GetParam();
  ir::Graph graph = golden.make();
  const std::string before = ir::print(graph);
  const auto fired = golden.run(graph);
  ASSERT_TRUE(fired.ok()) << fired.error().message;
  const auto legal = ir::verify(graph);
  ASSERT_TRUE(legal.ok()) << legal.error().message;
  expect_golden(cat("passes/", golden.name, ".txt"),
                cat("# ", golden.meaning, "\n\nbefore\n", before, "\nafter, fired ", fired.value(),
                    "\n", ir::print(graph)));
}

TEST_P(EachPass, ChangesNothingWhenRunAgain) {
  ir::Graph graph = GetParam().make();
  ASSERT_TRUE(GetParam().run(graph).ok());
  const std::string once = ir::print(graph);
  const auto fired = GetParam().run(graph);
  ASSERT_TRUE(fired.ok()) << fired.error().message;
  EXPECT_EQ(fired.value(), 0);
  EXPECT_EQ(ir::print(graph), once);
}

INSTANTIATE_TEST_SUITE_P(Passes, EachPass, testing::ValuesIn(pass_graphs()),
                         [](const auto& pass) { return std::string(pass.param.name); });

TEST(Goldens, EveryPassOfThePipelineHasOne) {
  const std::vector<PassGraph> all = pass_graphs();
  for (const passes::Pass& pass : passes::pipeline())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const PassGraph& golden) {
      return golden.run == pass.run;
    })) << pass.name;
}

}  // namespace
}  // namespace tw::goldens
