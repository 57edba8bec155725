// What `cmake --install` gives to other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "models.h"

namespace tw::cli_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Installs once for all tests of the program and builds the consumer against it.
class Installed : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempFolder;
    step({"cmake", "--install", TW_BUILD_DIR, "--prefix", folder_->file("prefix"), "--component",
          "tilewright"});
    step({"cmake", "-G", "Ninja", "-S", TW_SOURCE_DIR "/tests/cli/consumer", "-B",
          folder_->file("consumer"), "-DCMAKE_PREFIX_PATH=" + folder_->file("prefix"),
          "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS=" TW_SANITIZE_FLAG});
    step({"cmake", "--build", folder_->file("consumer")});
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static void step(const std::vector<std::string>& command) {
    const Finished finished = run(command);
    ASSERT_EQ(finished.exit_code, 0) << command[0] << " " << command[1] << "\n"
                                     << finished.out << finished.err;
  }
  static std::string consumer(const std::string& program) {
    return folder_->file("consumer/" + program);
  }
  static std::string library(const std::string& name) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_->file("prefix")))
      if (entry.path().filename() == name) return entry.path();
    ADD_FAILURE() << name << " is not installed";
    return "";
  }
  static TempFolder* folder_;
};
TempFolder* Installed::folder_ = nullptr;

TEST_F(Installed, AProgramOutsideTheTreeCompilesAndRunsAModel) {
  const TempFolder models;
  const Finished embedded =
      run({consumer("embed"), write_text_model(models), models.file("text.plan")});
  EXPECT_EQ(embedded.exit_code, 0) << embedded.err;
  EXPECT_THAT(embedded.out, HasSubstr("f32[1,4], first element 102"));
  const Finished ran = run({consumer("run_plan"), models.file("text.plan")});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("f32[2,2]"));
}

TEST_F(Installed, AFailureIsASentenceAndNoException) {
  const Finished finished = run({consumer("embed"), "none.onnx", "none.plan"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("none.onnx"));
}

TEST_F(Installed, TheRuntimeHoldsNoCompilerAndNoProtobuf) {
  const Finished symbols = run({"nm", "-C", library("libtilewright_runtime.so")});
  ASSERT_EQ(symbols.exit_code, 0) << symbols.err;
  EXPECT_THAT(symbols.out, HasSubstr("tilewright::Engine::create"));
  for (const char* name : {"google::protobuf", "tw::ir::", "tw::onnx::", "tw::compiler::",
                           "tw::passes::", "tw::planner::"})
    EXPECT_THAT(symbols.out, Not(HasSubstr(name)));
  EXPECT_THAT(run({"ldd", consumer("run_plan")}).out, Not(HasSubstr("protobuf")));
}

TEST_F(Installed, TheLibrariesShowThePublicNamespaceOnly) {
  for (const char* name : {"libtilewright_runtime.so", "libtilewright_compile.so"}) {
    const Finished symbols =
        run({"sh", "-c", "nm -DC --defined-only " + library(name) + " | grep -v ' tilewright::'"});
    EXPECT_EQ(symbols.out, "") << name;
  }
}

TEST(Readme, ShowsTheProgramThatIsTested) {
  EXPECT_THAT(read_all(TW_SOURCE_DIR "/README.md"),
              HasSubstr(read_all(TW_SOURCE_DIR "/tests/cli/consumer/embed.cpp")));
}

}  // namespace
}  // namespace tw::cli_test
