#include "cli/args.h"

#include <algorithm>
#include <charconv>

namespace tw::cli {
namespace {

constexpr Option kCommon[] = {
    {.name = "--quiet", .short_name = "-q", .help = "print no notes and no progress"},
    {.name = "--help", .short_name = "-h", .help = "print this text"},
};

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

const Option* find_option(const Command& command, std::string_view word) {
  for (const auto& options : {command.options, common_options()})
    for (const Option& option : options)
      if (option.name == word || (!option.short_name.empty() && option.short_name == word))
        return &option;
  return nullptr;
}

Error unknown_option(const Command& command, std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& options : {command.options, common_options()})
    for (const Option& option : options) names.push_back(option.name);
  return error(Code::kInvalidArgument, "there is no option '", word, "'",
               did_you_mean(word, names));
}

std::string option_title(const Option& option) {
  std::string title = option.short_name.empty() ? "    " : cat(option.short_name, ", ");
  title += option.name;
  if (!option.value.empty()) title += cat(" ", option.value);
  return title;
}

/// The help column; text that is longer than a line goes on below itself.
void append_option(std::string& out, const Option& option) {
  constexpr size_t kColumn = 34, kWidth = 98;
  std::string line = cat("  ", option_title(option));
  line.resize(line.size() + 2 > kColumn ? line.size() + 2 : kColumn, ' ');
  std::string_view rest = option.help;
  while (line.size() + rest.size() > kWidth) {
    const size_t space = rest.rfind(' ', kWidth - std::min(line.size(), kWidth - 20));
    if (space == std::string_view::npos) break;
    out += cat(line, rest.substr(0, space), "\n");
    rest.remove_prefix(space + 1);
    line.assign(kColumn, ' ');
  }
  out += cat(line, rest, "\n");
}

}  // namespace

std::span<const Option> common_options() { return kCommon; }

bool Arguments::has(std::string_view name) const { return value(name).has_value(); }

std::optional<std::string> Arguments::value(std::string_view name) const {
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::vector<std::string> Arguments::values(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [key, value] : values_)
    if (key == name) found.push_back(value);
  return found;
}

int64_t Arguments::integer(std::string_view name, int64_t fallback) const {
  const auto text = value(name);
  return text ? parse_number<int64_t>(*text).value_or(fallback) : fallback;
}

double Arguments::number(std::string_view name, double fallback) const {
  const auto text = value(name);
  return text ? parse_number<double>(*text).value_or(fallback) : fallback;
}

Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> words) {
  Arguments arguments;
  bool only_operands = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_operands || word.size() < 2 || word[0] != '-') {
      arguments.operands_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_operands = true;
      continue;
    }
    const size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const Option* option = find_option(command, name);
    if (option == nullptr) return unknown_option(command, name);
    std::string value;
    if (!option->value.empty()) {
      if (equals == std::string::npos && i + 1 == words.size())
        return error(Code::kInvalidArgument, name, " needs a value: ", option->value);
      value = equals == std::string::npos ? words[++i] : word.substr(equals + 1);
      if (option->check != nullptr) TRY(option->check(value).in(name));
    } else if (equals != std::string::npos) {
      return error(Code::kInvalidArgument, name, " takes no value, found '",
                   word.substr(equals + 1), "'");
    }
    if (!option->repeats && arguments.has(option->name) && !option->value.empty())
      return error(Code::kInvalidArgument, name, " is given twice");
    arguments.values_.emplace_back(option->name, std::move(value));
  }
  if (arguments.has("--help")) return arguments;
  const size_t count = arguments.operands_.size();
  if (count < command.min_operands)
    return error(Code::kInvalidArgument, "expected ", command.operands);
  if (count > command.max_operands)
    return error(Code::kInvalidArgument, "one argument too many: '",
                 arguments.operands_[command.max_operands], "'");
  for (const Option& option : command.options)
    if (option.required && !arguments.has(option.name))
      return error(Code::kInvalidArgument, "expected ",
                   option.short_name.empty() ? option.name : option.short_name, " ", option.value);
  return arguments;
}

std::string help_text(const Command& command) {
  std::string out = cat("usage: tilewright ", command.name);
  if (!command.operands.empty()) out += cat(" ", command.operands);
  for (const Option& option : command.options)
    if (option.required)
      out +=
          cat(" ", option.short_name.empty() ? option.name : option.short_name, " ", option.value);
  out += cat(" [options]\n\n", command.summary, "\n");
  if (!command.details.empty()) out += cat("\n", command.details, "\n");
  out += "\noptions:\n";
  for (const auto& options : {command.options, common_options()})
    for (const Option& option : options) append_option(out, option);
  out += "\nexample:\n";
  for (std::string_view rest = command.example; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    out += cat("  ", rest.substr(0, end), "\n");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> choices) {
  std::string_view nearest;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string_view choice : choices)
    if (const size_t distance = edit_distance(word, choice); distance < least) {
      least = distance;
      nearest = choice;
    }
  return nearest.empty() ? "" : cat(", did you mean '", nearest, "'?");
}

Result<void> check_positive(std::string_view value) {
  const auto number = parse_number<int64_t>(value);
  if (!number || *number < 1)
    return error(Code::kInvalidArgument, "'", value, "' is no number of at least 1");
  return {};
}

Result<void> check_not_negative(std::string_view value) {
  const auto number = parse_number<int64_t>(value);
  if (!number || *number < 0)
    return error(Code::kInvalidArgument, "'", value, "' is no number of at least 0");
  return {};
}

Result<void> check_seconds(std::string_view value) {
  const auto number = parse_number<double>(value);
  if (!number || !(*number > 0) || *number > 1e9)
    return error(Code::kInvalidArgument, "'", value, "' is no number of seconds above 0");
  return {};
}

Result<void> check_choice(std::string_view value, std::span<const std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
  return error(Code::kInvalidArgument, "'", value, "' is not one of ", join(choices, ", "),
               did_you_mean(value, choices));
}

}  // namespace tw::cli
