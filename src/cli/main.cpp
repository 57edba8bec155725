// main.cpp: finds the subcommand, parses its arguments and turns its result into an exit code: 0, 1
// (it failed: one sentence on stderr), 2 (it was called wrongly).
#include <cstdio>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/overview.h"

namespace tw::cli {
namespace {

constexpr int kOk = 0, kFailed = 1, kUsage = 2;

int wrong_usage(Console& console, std::string_view sentence, std::string_view command) {
  console.fail(sentence);
  std::fprintf(stderr, "see 'tilewright %.*s%s--help'\n", static_cast<int>(command.size()),
               command.data(), command.empty() ? "" : " ");
  return kUsage;
}

int run_command(const Command& command, std::span<const std::string> words, Console& console) {
  const auto arguments = parse_arguments(command, words);
  if (!arguments.ok()) return wrong_usage(console, arguments.error().message, command.name);
  if (arguments.value().has("--help")) {
    console.print(help_text(command));
    return kOk;
  }
  if (arguments.value().has("--quiet")) console.set_quiet();
  const auto result = command.run(arguments.value(), console);
  if (!result.ok()) {
    console.fail(result.error().message);
    return kFailed;
  }
  console.clear_progress();
  if (std::fflush(stdout) != 0) {
    console.fail("cannot write to the standard output");
    return kFailed;
  }
  return kOk;
}

int run(std::span<const std::string> words) {
  Console console;
  if (words.empty()) return wrong_usage(console, "expected a command", "");
  if (words[0] == "--version") {
    console.print(version_text());
    return kOk;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    console.print(overview_text());
    return kOk;
  }
  std::vector<std::string_view> names;
  for (const Command* command : commands()) {
    if (command->name == words[0]) return run_command(*command, words.subspan(1), console);
    names.push_back(command->name);
  }
  return wrong_usage(
      console, cat("there is no command '", words[0], "'", did_you_mean(words[0], names)), "");
}

}  // namespace
}  // namespace tw::cli

int main(int argc, char** argv) {
  tw::cli::install_signal_handlers();
  const std::vector<std::string> words(argv + 1, argv + argc);
  return tw::cli::run(words);
}
