// Ctrl-C at any time: exit code 130, no part of a file left behind, and what was there is still
// whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "cli/commands.h"
#include "json_check.h"
#include "models.h"

namespace tw::cli_test {
namespace {

/// A call of each command that prints when it is done.
std::vector<std::string> call_of(const std::string& command, const TempFolder& folder) {
  const std::string plan = folder.file("mlp.plan"), model = folder.file("mlp.onnx");
  if (command == "build") return {command, model, "-o", plan, "--shapes", "x:2x4"};
  if (command == "run") return {command, plan, "--input", "random", "--quiet"};
  if (command == "bench") return {command, plan, "--warmup-ms", "1", "--duration-s", "0.01"};
  if (command == "verify") return {command, model, "--shapes", "x:2x4"};
  if (command == "doctor") return {command, plan};
  const bool takes_a_plan = command == "inspect" || command == "explain" || command == "doctor";
  CHECK(takes_a_plan, "every command is called here");
  return {command, plan};
}

class InterruptedCommand : public ::testing::TestWithParam<const cli::Command*> {};

TEST_P(InterruptedCommand, EndsWith130WhileItWaitsForItsReader) {
  const TempFolder folder;
  build_mlp(folder);
  const std::vector<std::string> names = folder.names();
  const Finished finished = tilewright(call_of(std::string(GetParam()->name), folder),
                                       {.interrupt_after_ms = 400, .stdout_is_full = true});
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_EQ(folder.names(), names);
  EXPECT_EQ(tilewright({"inspect", folder.file("mlp.plan")}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(All, InterruptedCommand,
                         ::testing::ValuesIn(cli::commands().begin(), cli::commands().end()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(Interrupt, EndsALongBenchWith130) {
  const TempFolder folder;
  const Finished finished = tilewright({"bench", build_mlp(folder), "--shapes", "x:1x4",
                                        "--duration-s", "100", "--json", folder.file("b.json")},
                                       {.interrupt_after_ms = 300});
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"mlp.onnx", "mlp.plan"}));
}

/// A loop that takes longer than anyone waits.
class LongLoop : public ::testing::TestWithParam<const char*> {};

TEST_P(LongLoop, EndsWith130) {
  const TempFolder folder;
  const std::string model = write_loop(folder);
  write_scalar(folder, "trips.npy", 100'000'000);
  std::vector<std::string> call = {GetParam(), model, "--input",
                                   "trips=" + folder.file("trips.npy")};
  if (call[0] != "verify") call.insert(call.end(), {"--input", "random"});
  const std::vector<std::string> names = folder.names();
  const Finished finished = tilewright(call, {.interrupt_after_ms = 300});
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_EQ(folder.names(), names);
}

INSTANTIATE_TEST_SUITE_P(All, LongLoop, ::testing::Values("run", "bench", "verify"));

class InterruptAt : public ::testing::TestWithParam<int> {};

TEST_P(InterruptAt, LeavesTheOldPlanOrTheNewOne) {
  const TempFolder folder;
  // Weights of 64 MiB: most of the time goes into writing them.
  const std::string model = write_external(folder, 4096, 4096, true), plan = folder.file("p");
  write_all(plan, "the old one");
  const Finished finished =
      tilewright({"build", model, "-o", plan}, {.interrupt_after_ms = GetParam()});
  EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 130)
      << finished.exit_code << finished.err;
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"external.onnx", "p", "weights.bin"}));
  if (read_all(plan) != "the old one") {
    EXPECT_EQ(tilewright({"inspect", plan}).exit_code, 0);
  }
}

TEST_P(InterruptAt, LeavesAWholeOutputOrNone) {
  const TempFolder folder;
  const std::string out = folder.file("out");
  const Finished finished = tilewright({"run", build_mlp(folder), "--input", "random", "--shapes",
                                        "x:100000x4", "--output-dir", out},
                                       {.interrupt_after_ms = GetParam()});
  EXPECT_TRUE(finished.exit_code == 0 || finished.exit_code == 130)
      << finished.exit_code << finished.err;
  const std::string files = run({"sh", "-c", "ls -A '" + out + "' 2>/dev/null"}).out;
  EXPECT_TRUE(files.empty() || files == "y.npy\n") << files;
  if (!files.empty()) {
    EXPECT_EQ(read_all(out + "/y.npy").size(), 3200128U);
  }
}

TEST_P(InterruptAt, ChangesNothingWhenAPlanIsOnlyRead) {
  const TempFolder folder;
  const std::string plan = folder.file("p");
  ASSERT_EQ(tilewright({"build", write_external(folder, 4096, 4096, true), "-o", plan}).exit_code,
            0);
  const std::vector<std::string> names = folder.names();
  for (const char* command : {"inspect", "explain", "doctor"}) {
    const int exit_code =
        tilewright({command, plan}, {.interrupt_after_ms = GetParam() / 10}).exit_code;
    EXPECT_TRUE(exit_code == 0 || exit_code == 130) << exit_code;
  }
  EXPECT_EQ(folder.names(), names);
  EXPECT_EQ(tilewright({"inspect", plan}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Times, InterruptAt, ::testing::Values(20, 60, 120, 200, 300, 450));

}  // namespace
}  // namespace tw::cli_test
