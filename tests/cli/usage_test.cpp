// How the program is called: commands, options, help, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "models.h"

namespace tw::cli_test {
namespace {

using ::testing::HasSubstr;

struct Wrong {
  std::vector<std::string> arguments;
  std::string sentence;
};

class WrongUsage : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongUsage, IsASentenceAndExitCode2) {
  const Finished finished = tilewright(GetParam().arguments);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr(GetParam().sentence));
  EXPECT_THAT(finished.err, HasSubstr("--help'"));
  EXPECT_EQ(finished.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongUsage,
    ::testing::Values(
        Wrong{{}, "expected a command"},
        Wrong{{"biuld"}, "there is no command 'biuld', did you mean 'build'?"},
        Wrong{{"build"}, "expected MODEL.onnx"}, Wrong{{"build", "m.onnx"}, "expected -o PLAN"},
        Wrong{{"build", "m.onnx", "n.onnx", "-o", "p"}, "one argument too many: 'n.onnx'"},
        Wrong{{"build", "m.onnx", "-o"}, "-o needs a value: PLAN"},
        Wrong{{"build", "m.onnx", "-o", "p", "--outptu", "q"},
              "there is no option '--outptu', did you mean '--output'?"},
        Wrong{{"build", "m.onnx", "-o", "p", "--isa", "avx513"}, "did you mean 'avx512'?"},
        Wrong{{"build", "m.onnx", "-o", "p", "--precision", "fp8"},
              "not one of fp32, tf32, fp16, bf16"},
        Wrong{{"build", "m.onnx", "-o", "p", "--workers", "0"}, "'0' is no number of at least 1"},
        Wrong{{"build", "m.onnx", "-o", "p", "--max-aux-streams", "4"}, "not one of 0, 1, 2, 3"},
        Wrong{{"build", "m.onnx", "-o", "p", "--shapes", "1x3"}, "'1x3' is not NAME:1x3xHxW"},
        Wrong{{"build", "m.onnx", "-o", "p", "--shapes", "x:1x*"},
              "'*' is neither a size nor a letter"},
        Wrong{{"build", "m.onnx", "-o", "p", "--portable=yes"}, "--portable takes no value"},
        Wrong{{"build", "m.onnx", "-o", "p", "-o", "q"}, "-o is given twice"},
        Wrong{{"run", "p", "--order", "backwards"}, "'backwards' is not random:SEED"},
        Wrong{{"run", "p", "--mean", "1,two"}, "'two' is no number"},
        Wrong{{"bench", "p", "--duration-s", "-1"}, "'-1' is no number of seconds above 0"},
        Wrong{{"run", "p", "--threads", "1000000"}, "'1000000' is more than 1024 threads"},
        Wrong{{"verify", "m", "--layers", "7"}, "'7' is not A:B"},
        Wrong{{"inspect"}, "expected PLAN"}));

class EveryCommand : public ::testing::TestWithParam<const cli::Command*> {};

TEST_P(EveryCommand, HasHelpWithAnExample) {
  const std::string name(GetParam()->name);
  const Finished finished = tilewright({name, "--help"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("usage: tilewright " + name));
  EXPECT_THAT(finished.out, HasSubstr("example:\n  tilewright " + name));
}

INSTANTIATE_TEST_SUITE_P(All, EveryCommand,
                         ::testing::ValuesIn(cli::commands().begin(), cli::commands().end()));

TEST(Usage, VersionNamesCommitAndInstructionSet) {
  const Finished finished = tilewright({"--version"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.out,
              ::testing::MatchesRegex(
                  "tilewright [0-9.]+ \\(commit .*\\)\n(.*\n)*cpu: (sse42|avx2|avx512)(.*\n)*"));
}

TEST(Usage, HelpListsEveryCommand) {
  const Finished finished = tilewright({"--help"});
  EXPECT_EQ(finished.exit_code, 0);
  for (const cli::Command* command : cli::commands())
    EXPECT_THAT(finished.out, HasSubstr(std::string(command->summary)));
}

TEST(Usage, NothingButResultsGoesToPipes) {
  const TempFolder folder;
  const Finished finished =
      tilewright({"run", build_mlp(folder), "--input", "random", "--shapes", "x:3x4"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace tw::cli_test
