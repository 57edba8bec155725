// Bad input gets one sentence and exit code 1, and nothing that was there is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models.h"

namespace tw::cli_test {
namespace {

using ::testing::HasSubstr;

TEST(BadModel, RandomBytesAreRefused) {
  const TempFolder folder;
  for (const size_t n : {0, 1, 7, 100, 5000}) {
    write_all(folder.file("m.onnx"), random_bytes(n, n));
    expect_refused(tilewright({"build", folder.file("m.onnx"), "-o", folder.file("p")}), "m.onnx");
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.onnx"});
}

TEST(BadModel, ATruncatedModelIsRefused) {
  const TempFolder folder;
  const std::string whole = read_all(write_mlp(folder));
  for (const size_t n : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    write_all(folder.file("m.onnx"), whole.substr(0, n));
    const Finished finished =
        tilewright({"build", folder.file("m.onnx"), "-o", folder.file("p"), "-q"});
    expect_refused(finished, "m.onnx");
  }
}

TEST(BadModel, AMissingFileAndAFolderAreNamed) {
  const TempFolder folder;
  expect_refused(tilewright({"build", folder.file("none.onnx"), "-o", folder.file("p")}),
                 "none.onnx");
  expect_refused(tilewright({"build", folder.path(), "-o", folder.file("p")}), folder.path());
  expect_refused(tilewright({"run", folder.file("none.plan"), "--input", "random"}), "none.plan");
}

TEST(BadModel, MissingExternalDataIsNamed) {
  const TempFolder folder;
  expect_refused(tilewright({"build", write_external(folder, 8, 8, false), "-o", folder.file("p")}),
                 "weights.bin");
}

TEST(BadModel, OneLargerThanMemoryIsRefusedWithWantedAndFound) {
  const TempFolder folder;
  const int64_t side = int64_t{1} << 19;
  expect_refused(
      tilewright({"build", write_external(folder, side, side, true), "-o", folder.file("p")}),
      "want 1099511627776 bytes of memory, found ");
}

TEST(BadModel, AnArenaLargerThanMemoryIsRefusedWithWantedAndFound) {
  const TempFolder folder;
  const std::string sizes = "a:1048576x1,b:1x1048576";
  const Finished built =
      tilewright({"build", write_outer_product(folder), "-o", folder.file("p"), "--shapes", sizes});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  expect_refused_with(tilewright({"run", folder.file("p"), "--input", "random"}),
                      {"arena", "want 4398046511104 bytes of memory, found "});
  expect_refused_with(tilewright({"doctor", folder.file("p")}),
                      {"arena: want 4398046511104 bytes of memory, found "});
  expect_refused_with(
      tilewright({"verify", folder.file("outer.onnx"), "--shapes", sizes, "--input", "random"}),
      {"want 4398046511104 bytes of memory, found "});
}

TEST(BadModel, AnInputLargerThanMemoryIsRefusedWithWantedAndFound) {
  const TempFolder folder;
  expect_refused_with(
      tilewright({"run", build_mlp(folder), "--input", "random", "--shapes", "x:99999999999x4"}),
      {"input 'x'", "want 1599999999984 bytes of memory, found "});
}

TEST(BadModel, IsNotPackedForAnInstructionSetThatTheMachineLacks) {
  const TempFolder folder;
  const std::string model = write_mlp(folder), plan = folder.file("p");
  std::vector<std::string> call = {cli_path("sse42"), "build", model, "-o", plan, "-q",
                                   "--isa",           "avx2"};
  expect_refused_with(run(call), {"packing weights for avx2", "found sse42", "portable"});
  call.push_back("--portable");
  EXPECT_EQ(run(call).exit_code, 0);
}

TEST(BadModel, AnUnknownPassIsRefusedWithTheList) {
  const TempFolder folder;
  expect_refused(tilewright({"build", write_mlp(folder), "-o", folder.file("p"), "--skip-pass",
                             "fuse_everything", "-q"}),
                 "the passes are ");
}

struct BadRun {
  std::vector<std::string> inputs;
  std::string sentence;
};

class BadInputs : public ::testing::TestWithParam<BadRun> {};

TEST_P(BadInputs, AreRefusedWithFoundAndExpected) {
  const TempFolder folder;
  const std::string plan = build_mlp(folder);
  write_npy(folder, "good.npy", "f32", {2, 4});
  write_npy(folder, "wide.npy", "f32", {2, 5});
  write_npy(folder, "flat.npy", "f32", {4});
  write_npy(folder, "ints.npy", "i64", {2, 4});
  write_all(folder.file("cut.npy"), read_all(folder.file("good.npy")).substr(0, 140));
  write_all(folder.file("text.npy"), "not an array");
  std::vector<std::string> arguments = {"run", plan};
  for (const std::string& input : GetParam().inputs)
    arguments.insert(arguments.end(), {"--input", input});
  expect_refused(tilewright(arguments, {.folder = folder.path()}), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInputs,
    ::testing::Values(BadRun{{}, "input 'x' (f32[batch,4]) is not given"},
                      BadRun{{"z=good.npy"}, "there is no input 'z'"},
                      BadRun{{"x=wide.npy"}, "input 'x' is f32[2,5], expected f32[batch,4]"},
                      BadRun{{"x=flat.npy"}, "input 'x' is f32[4], expected f32[batch,4]"},
                      BadRun{{"x=ints.npy"}, "input 'x' is i64[2,4], expected f32[batch,4]"},
                      BadRun{{"x=cut.npy"}, "expected 32"},
                      BadRun{{"x=text.npy"}, "does not open as a .npy"},
                      BadRun{{"x=none.npy"}, "none.npy"},
                      BadRun{{"x=good.txt"}, "cannot read 'good.txt'"},
                      BadRun{{"x=good.npy", "x=good.npy"}, "input 'x' is given twice"},
                      BadRun{{"good.npy", "good.npy"}, "more inputs are given"}));

TEST(FullDisk, LeavesTheOldPlanAndNothingElse) {
  const TempFolder folder;
  const std::string model = write_mlp(folder), plan = build_mlp(folder);
  const std::string before = read_all(plan);
  const Finished finished =
      tilewright({"build", model, "-o", plan, "-q"}, {.file_size_limit_bytes = 5000});
  expect_refused(finished, "cannot write");
  EXPECT_EQ(read_all(plan), before);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"mlp.onnx", "mlp.plan"}));
}

TEST(FullDisk, LeavesNoPartOfAnOutput) {
  const TempFolder folder;
  const std::string plan = build_mlp(folder), input = write_npy(folder, "x.npy", "f32", {64, 4});
  expect_refused(tilewright({"run", plan, "--input", input, "--output-dir", folder.file("out")},
                            {.file_size_limit_bytes = 1000}),
                 "cannot write");
  EXPECT_EQ(run({"ls", "-A", folder.file("out")}).out, "");
}

}  // namespace
}  // namespace tw::cli_test
