// args.h: the command line as tables: a command lists its options, the parser checks arguments
// against them, and --help and docs/cli.md are printed from them. Whatever is wrong with an
// argument is found here, before a command begins.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tw::cli {

class Console;
class Arguments;

struct Option {
  std::string_view name;             // "--output"
  std::string_view short_name = {};  // "-o"
  std::string_view value = {};       // what --help calls the value; none: a flag
  /// Says what is wrong with a value; null: any text will do.
  Result<void> (*check)(std::string_view value) = nullptr;
  bool repeats = false;
  bool required = false;
  std::string_view help = {};
};

struct Command {
  std::string_view name;
  std::string_view summary;   // one line of the overview
  std::string_view operands;  // "PLAN|MODEL"
  size_t min_operands = 0, max_operands = 0;
  std::string_view details = {};  // more of --help; lines
  std::span<const Option> options;
  std::string_view example;  // one command a line
  Result<void> (*run)(const Arguments&, Console&);
};

/// What a command was given; every value has passed its option's check.
class Arguments {
 public:
  const std::vector<std::string>& operands() const { return operands_; }
  bool has(std::string_view name) const;
  /// The last value given.
  std::optional<std::string> value(std::string_view name) const;
  std::vector<std::string> values(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t fallback) const;
  double number(std::string_view name, double fallback) const;

 private:
  friend Result<Arguments> parse_arguments(const Command&, std::span<const std::string>);
  std::vector<std::string> operands_;
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Options that every command has: --help and --quiet.
std::span<const Option> common_options();

/// `words` follow the command's name. "--name value", "--name=value"; "--" ends the options. --help
/// is accepted anywhere and excuses missing operands.
Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> words);

/// The text of `tilewright NAME --help`.
std::string help_text(const Command& command);

/// ", did you mean 'x'?" for the choice nearest to `word`, or nothing when none is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> choices);

/// Checks for values.
Result<void> check_positive(std::string_view value);      // an integer of at least 1
Result<void> check_not_negative(std::string_view value);  // an integer of at least 0
Result<void> check_seconds(std::string_view value);       // a number above 0
/// A sentence when `value` is none of `choices`.
Result<void> check_choice(std::string_view value, std::span<const std::string_view> choices);

}  // namespace tw::cli
