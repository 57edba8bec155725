// run.cpp: `tilewright run`: one run of a plan, or of a model compiled in memory.
#include <chrono>
#include <cmath>
#include <filesystem>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/npy.h"

namespace tw::cli {
namespace {

Result<void> check_order(std::string_view value) {
  if (!value.starts_with("random:"))
    return error(Code::kInvalidArgument, "'", value, "' is not random:SEED");
  return check_not_negative(value.substr(7));
}

constexpr Option kOptions[] = {
    kInputOption,
    {.name = "--output-dir",
     .value = "D",
     .help = "write each output to D/NAME.npy, characters of NAME that are no letters or digits as "
             "'_'"},
    kShapesOption,
    kTargetOption,
    kPrecisionOption,
    kMeanOption,
    kStdOption,
    kBgrOption,
    kNhwcOption,
    kThreadsOption,
    {.name = "--order",
     .value = "random:SEED",
     .check = check_order,
     .help = "run the tasks in a random legal order, in poisoned memory"},
    {.name = "--checked",
     .help = "run tile by tile and compare what each touches with what it declares"},
    {.name = "--json", .help = "print the outputs' description as JSON"},
};

runtime::RunOptions run_options(const Arguments& arguments) {
  runtime::RunOptions options;
  if (const auto order = arguments.value("--order")) {
    options.order = cpu::Order::kRandom;
    options.seed = std::strtoull(order->c_str() + std::string_view("random:").size(), nullptr, 10);
  }
  if (arguments.has("--checked")) options.order = cpu::Order::kChecked;
  return options;
}

struct Range {
  double least = 0, largest = 0, mean = 0;
};

/// Over the finite elements.
Range range_of(const Tensor& tensor) {
  Range range;
  int64_t n = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.float_at(i);
    if (!std::isfinite(value)) continue;
    range.least = n == 0 ? value : std::min(range.least, value);
    range.largest = n == 0 ? value : std::max(range.largest, value);
    range.mean += value;
    ++n;
  }
  if (n > 0) range.mean /= static_cast<double>(n);
  return range;
}

Json report(const std::vector<plan::Port>& ports, const std::vector<Tensor>& outputs, double run_ms,
            std::string executor) {
  Json::Array list;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Range range = range_of(outputs[i]);
    Json::Array dims;
    for (const int64_t dim : outputs[i].dims()) dims.emplace_back(dim);
    list.push_back(Json::Object{{"name", ports[i].name},
                                {"dtype", dtype_name(outputs[i].dtype())},
                                {"dims_elems", std::move(dims)},
                                {"min", range.least},
                                {"max", range.largest},
                                {"mean", range.mean}});
  }
  return Json::Object{{"schema_version", 1},
                      {"executor", std::move(executor)},
                      {"run_ms", run_ms},
                      {"outputs", std::move(list)}};
}

Result<void> write_outputs(const std::string& folder, const std::vector<plan::Port>& ports,
                           const std::vector<Tensor>& outputs) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return error(Code::kIo, "cannot create folder '", folder, "': ", failure.message());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string path = cat(folder, "/", file_name(ports[i].name), ".npy");
    for (size_t j = 0; j < i; ++j)
      if (file_name(ports[j].name) == file_name(ports[i].name))
        return error(Code::kInvalidArgument, "outputs '", ports[j].name, "' and '", ports[i].name,
                     "' would both be ", path);
    TRY(write_file(path, TRY(format_npy(outputs[i]).in(cat("output '", ports[i].name, "'")))));
  }
  return {};
}

Result<void> run_run(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.operands()[0];
  plan::Plan plan =
      TRY(load_plan(path, arguments, cat("tilewright run ", shell_word(path)), console));
  runtime::EngineOptions options;
  options.threads = static_cast<int>(arguments.integer("--threads", 0));
  const auto engine = TRY(runtime::Engine::make(std::move(plan), options));
  const plan::Procedure& main = engine->plan().main;
  const std::vector<Tensor> inputs =
      TRY(read_inputs(main.inputs, arguments.values("--input"), image_options(arguments),
                      given_shapes(arguments), std::nullopt, console));
  runtime::Context context(engine);
  const auto begin = std::chrono::steady_clock::now();
  Result<std::vector<Tensor>> ran = context.run(inputs, run_options(arguments));
  const double run_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  note_device(*engine, console);  // of a run that failed too: it may be why
  const std::vector<Tensor> outputs = TRY(std::move(ran));
  if (const auto folder = arguments.value("--output-dir"))
    TRY(write_outputs(*folder, main.outputs, outputs));
  if (arguments.has("--json")) {
    const bool on_cpu = engine->device() == nullptr;
    console.print(report(main.outputs, outputs, run_ms, on_cpu ? "cpu" : "cuda graph").text());
    return {};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Range range = range_of(outputs[i]);
    console.print(cat(main.outputs[i].name, ": ", outputs[i].type_text(), " min ",
                      static_cast<float>(range.least), " max ", static_cast<float>(range.largest),
                      " mean ", static_cast<float>(range.mean), "\n"));
  }
  return {};
}

}  // namespace

const Command kRunCommand = {
    .name = "run",
    .summary = "Runs a plan once, or a model compiled in memory.",
    .operands = "PLAN|MODEL.onnx",
    .min_operands = 1,
    .max_operands = 1,
    .details = "--shapes also gives the sizes of random inputs.",
    .options = kOptions,
    .example =
        "tilewright run model.plan --input input_ids=ids.npy --input attention_mask=mask.npy "
        "--output-dir out\n"
        "tilewright run detector.onnx --shapes x:1x3x224x224 --input photo.png --mean "
        "0.485,0.456,0.406 --std 0.229,0.224,0.225",
    .run = run_run,
};

}  // namespace tw::cli
