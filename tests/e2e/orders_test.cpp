// A program means the same on every legal interleaving: seeded random orders in poisoned memory,
// tiles for several numbers of workers, and each tile alone with what it declares to read.
#include <set>

#include "models.h"

namespace tw::e2e {
namespace {

class Orders : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    model_ = models()[GetParam()];
    if (!is_there(model_)) GTEST_SKIP() << model_.file << " is not there";
  }

  std::vector<Tensor> run(const std::shared_ptr<const runtime::Engine>& engine,
                          const runtime::RunOptions& options = {}) {
    runtime::Context context(engine);
    return value_or_fail(context.run(random_inputs(model_, engine->plan(), 1), options));
  }

  std::shared_ptr<const runtime::Engine> engine(int workers) {
    return value_or_fail(runtime::Engine::make(build(model_, workers), {}));
  }

  Model model_;
};

TEST_P(Orders, RandomLegalOrdersGiveTheSameBits) {
  const auto whole = engine(1);
  const std::vector<Tensor> expected = run(whole);
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_TRUE(same_bits(expected, run(whole, {cpu::Order::kRandom, seed}))) << "seed " << seed;
}

TEST_P(Orders, EachTileTouchesOnlyWhatItDeclares) {
  const auto whole = engine(1);
  EXPECT_TRUE(same_bits(run(whole), run(whole, {cpu::Order::kChecked, 0})));
}

TEST_P(Orders, TilesForAnyNumberOfWorkersGiveTheSameBits) {
  const std::vector<Tensor> expected = run(engine(1));
  for (const int workers : {8, 132}) {
    const auto tiles = engine(workers);
    for (uint64_t seed = 0; seed < 100; ++seed)
      ASSERT_TRUE(same_bits(expected, run(tiles, {cpu::Order::kRandom, seed})))
          << workers << " workers, seed " << seed;
    EXPECT_TRUE(same_bits(expected, run(tiles, {cpu::Order::kQueues, 0})))
        << workers << " workers side by side";
  }
}

std::string name_of(const testing::TestParamInfo<size_t>& info) {
  std::string name = models()[info.param].file;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, Orders, testing::Range<size_t>(0, models().size()), name_of);

}  // namespace
}  // namespace tw::e2e
