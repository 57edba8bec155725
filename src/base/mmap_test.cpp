#include "base/mmap.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace tw {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              cat("mmap_", testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  std::filesystem::path folder_;
};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.data()), static_cast<size_t>(file.size())};
}

TEST_F(MappedFileTest, GivesTheBytesOfTheFile) {
  const auto file = MappedFile::open(write("a", "seven b"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(text_of(*file.value()), "seven b");
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  const auto file = MappedFile::open(write("empty", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file.value()->bytes().empty());
}

TEST_F(MappedFileTest, BytesOutliveTheFile) {
  const std::string path = write("gone", "still here");
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  std::filesystem::remove(path);
  EXPECT_EQ(text_of(*file.value()), "still here");
}

TEST_F(MappedFileTest, AdviceOutsideTheFileIsClipped) {
  const auto file = MappedFile::open(write("a", std::string(10000, 'x')));
  ASSERT_TRUE(file.ok());
  file.value()->advise(MappedFile::Advice::kSequential, 5000, INT64_MAX);
  file.value()->advise(MappedFile::Advice::kWillNeed, INT64_MAX, INT64_MAX);
  file.value()->advise(MappedFile::Advice::kDontNeed, -5, 4);
  EXPECT_EQ(file.value()->bytes()[9999], std::byte{'x'});
}

TEST_F(MappedFileTest, AMissingFileIsNotFound) {
  const auto file = MappedFile::open(folder_ / "nothing");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Code::kNotFound);
}

TEST_F(MappedFileTest, ADirectoryIsRefused) {
  const auto file = MappedFile::open(folder_);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Code::kIo);
  EXPECT_NE(file.error().message.find("is a directory, expected a file"), std::string::npos);
}

TEST_F(MappedFileTest, APipeIsRefusedWithoutWaiting) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto file = MappedFile::open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_NE(file.error().message.find("is a pipe"), std::string::npos);
}

}  // namespace
}  // namespace tw
