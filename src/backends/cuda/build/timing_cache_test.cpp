// The timing cache: what was written is read again; what is foreign or damaged is ignored aloud.
#include "backends/cuda/build/timing_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tw::cuda {
namespace {

class TimingCacheFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::temp_directory_path() /
         ("timings_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name())))
            .string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  TimingCache read(const std::string& made_for) {
    warning_.clear();
    return TimingCache::read(path_, made_for, warning_);
  }
  void write_one(const std::string& made_for) {
    TimingCache cache = read(made_for);
    cache.add("gemm a:f16[128,768]", {7, 4.5});
    ASSERT_TRUE(cache.write(path_).ok());
  }
  std::string path_, warning_;
};

TEST_F(TimingCacheFile, GivesBackWhatWasMeasured) {
  write_one("H200");
  const TimingCache cache = read("H200");
  EXPECT_EQ(warning_, "");
  ASSERT_NE(cache.find("gemm a:f16[128,768]"), nullptr);
  EXPECT_EQ(cache.find("gemm a:f16[128,768]")->variant, 7);
  EXPECT_EQ(cache.find("gemm a:f16[128,768]")->us, 4.5);
  EXPECT_EQ(cache.find("gemm a:f16[1,768]"), nullptr);
}

TEST_F(TimingCacheFile, OfAnotherDeviceIsIgnoredWithAWarning) {
  write_one("H200");
  const TimingCache cache = read("H100");
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_NE(warning_.find("made for 'H200', this is 'H100'"), std::string::npos) << warning_;
}

TEST_F(TimingCacheFile, ThatIsDamagedIsIgnoredWithAWarning) {
  write_one("H200");
  std::ofstream(path_, std::ios::app) << "seven us\n";
  EXPECT_EQ(read("H200").size(), 0U);
  EXPECT_NE(warning_.find("damaged"), std::string::npos) << warning_;
  std::ofstream(path_) << "something else\n";
  EXPECT_EQ(read("H200").size(), 0U);
  EXPECT_NE(warning_.find("not a timing cache"), std::string::npos) << warning_;
}

TEST_F(TimingCacheFile, ThatIsNotThereIsEmpty) {
  EXPECT_EQ(read("H200").size(), 0U);
  EXPECT_EQ(warning_, "");
}

}  // namespace
}  // namespace tw::cuda
