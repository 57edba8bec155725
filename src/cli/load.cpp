#include "cli/load.h"

#include <algorithm>
#include <cctype>

#include "cli/console.h"

namespace tw::cli {

Result<void> check_isa(std::string_view value) {
  if (api::find_isa(value)) return {};
  constexpr std::string_view kNames[] = {"v2", "sse42", "avx2", "avx512"};
  return check_choice(value, kNames);
}

Result<void> check_target(std::string_view value) {
  constexpr std::string_view kNames[] = {"cpu", "sm_90", "auto"};
  return check_choice(value, kNames);
}

Result<void> check_precision(std::string_view value) {
  if (api::find_precision(value)) return {};
  constexpr std::string_view kNames[] = {"fp32", "tf32", "fp16", "bf16"};
  return check_choice(value, kNames);
}

Result<void> check_threads(std::string_view value) {
  constexpr size_t kLongest = 4;
  TRY(check_positive(value));
  if (value.size() > kLongest || std::stoi(std::string(value)) > 1024)
    return error(Code::kInvalidArgument, "'", value, "' is more than 1024 threads");
  return {};
}

api::BuildOptions build_options(const Arguments& arguments, const std::string& command,
                                Console& console) {
  api::BuildOptions options;
  options.model.shapes = given_shapes(arguments);
  options.model.paste = cat(command, " ");
  options.model.note = [&console](std::string_view text) { console.note(text); };
  if (const auto isa = arguments.value("--isa")) options.isa = api::find_isa(*isa);
  options.target = arguments.value("--target").value_or("cpu");
  if (const auto precision = arguments.value("--precision"))
    options.precision = api::find_precision(*precision).value_or(api::Precision::kFp32);
  options.timing_cache = arguments.value("--timing-cache").value_or("");
  options.measure_tactics = !arguments.has("--untimed");
  options.auxiliary_streams = static_cast<int>(arguments.integer("--max-aux-streams", 1));
  options.portable = arguments.has("--portable");
  options.workers = static_cast<int>(arguments.integer("--workers", 1));
  for (const std::string& pass : arguments.values("--skip-pass")) options.skip_passes.insert(pass);
  options.progress = [&console](const char* step, double fraction) {
    console.progress(step, fraction);
  };
  return options;
}

Result<plan::Plan> load_plan(const std::string& path, const Arguments& arguments,
                             const std::string& command, Console& console) {
  if (plan::looks_like_plan(path)) return plan::read_plan(path);
  auto plan = api::compile_model(path, build_options(arguments, command, console));
  console.clear_progress();
  return plan;
}

void note_device(const runtime::Engine& engine, Console& console) {
  if (engine.device() == nullptr) return;
  for (const std::string& note : engine.device()->notes()) console.note(note);
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:=,+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace tw::cli
