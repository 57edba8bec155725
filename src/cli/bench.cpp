// bench.cpp: `tilewright bench`: how long a plan takes, how many bytes it holds, and how it takes
// sizes it has not seen.
#include "cli/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "api/version.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/device_report.h"
#include "cli/json.h"
#include "cli/load.h"

namespace tw::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Option kOptions[] = {
    kInputOption,
    {.name = "--shapes",
     .value = "NAME:1x3xHxW,...",
     .check = check_shapes,
     .help = "sizes of random inputs; of a model also which sizes stay open"},
    {.name = "--shapes-random",
     .value = "N",
     .check = check_positive,
     .help = "N random sizes in place of one: the first run at each against the median run at it "
             "(open sizes are drawn from 1 to 128)"},
    {.name = "--seed",
     .value = "S",
     .check = check_not_negative,
     .help = "of random inputs and sizes (default 0)"},
    kMeanOption,
    kStdOption,
    kBgrOption,
    kNhwcOption,
    {.name = "--warmup-ms",
     .value = "N",
     .check = check_not_negative,
     .help = "runs that do not count (default 200)"},
    {.name = "--duration-s",
     .value = "N",
     .check = check_seconds,
     .help = "runs that count (default 3)"},
    kThreadsOption,
    kTargetOption,
    kPrecisionOption,
    {.name = "--trace",
     .value = "FILE",
     .help = "of a GPU plan: the tasks of one run as a Chrome or Perfetto trace"},
    {.name = "--device-runs",
     .value = "N",
     .check = check_positive,
     .help = "of a GPU plan: runs on the device's clock (default 500)"},
    {.name = "--json", .value = "FILE", .help = "also write the figures to FILE"},
};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// A field of /proc/self/status in bytes, or 0.
int64_t process_bytes(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field))
      return 1024 * std::strtoll(line.c_str() + field.size() + 1, nullptr, 10);
  return 0;
}

/// A run and how long it took.
Result<double> timed_run(runtime::Context& context, const std::vector<Tensor>& inputs) {
  const auto begin = Clock::now();
  TRY(context.run(inputs));
  return milliseconds_since(begin);
}

Result<std::vector<double>> timed_runs(runtime::Context& context, const std::vector<Tensor>& inputs,
                                       double seconds, Console& console) {
  std::vector<double> times;
  const auto begin = Clock::now();
  double shown_ms = 0;
  while (times.empty() || milliseconds_since(begin) < 1e3 * seconds) {
    times.push_back(TRY(timed_run(context, inputs)));
    const double spent_ms = milliseconds_since(begin);
    if (spent_ms - shown_ms < 100) continue;
    shown_ms = spent_ms;
    console.progress("running", spent_ms / (1e3 * seconds));
  }
  console.clear_progress();
  return times;
}

/// A plan as it was loaded.
struct Loaded {
  std::shared_ptr<const runtime::Engine> engine;
  double load_ms = 0;  // plan file to engine; for a model the compilation counts
};

Result<Loaded> load(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.operands()[0];
  const auto begin = Clock::now();
  plan::Plan plan =
      TRY(load_plan(path, arguments, cat("tilewright bench ", shell_word(path)), console));
  runtime::EngineOptions options;
  options.threads = static_cast<int>(arguments.integer("--threads", 0));
  Loaded loaded;
  loaded.engine = TRY(runtime::Engine::make(std::move(plan), options));
  loaded.load_ms = milliseconds_since(begin);
  return loaded;
}

Json::Object described(const Loaded& loaded) {
  return {{"schema_version", 1},
          {"version", api::version()},
          {"commit", api::commit()},
          {"executor", loaded.engine->device() != nullptr ? "cuda graph" : "cpu"},
          {"isa", cpu::isa_name(loaded.engine->isa())},
          {"threads", loaded.engine->pool().size()},
          {"load_ms", loaded.load_ms}};
}

void print_figures(const Figures& figures, const Loaded& loaded, double first_ms,
                   Console& console) {
  console.print(cat("latency ms: median ", fixed(figures.median, 3), ", mean ",
                    fixed(figures.mean, 3), ", min ", fixed(figures.min, 3), ", max ",
                    fixed(figures.max, 3), ", p90 ", fixed(figures.p90, 3), ", p95 ",
                    fixed(figures.p95, 3), ", p99 ", fixed(figures.p99, 3), "\n"));
  console.print(cat("throughput: ", fixed(1e3 / figures.mean, 2), " runs/s over ", figures.n,
                    " runs, ", loaded.engine->pool().size(), " threads, ",
                    loaded.engine->device() != nullptr ? "cuda graph, host " : "cpu ",
                    cpu::isa_name(loaded.engine->isa()), "\n"));
  console.print(
      cat("load ", fixed(loaded.load_ms, 2), " ms, first inference ", fixed(first_ms, 2), " ms\n"));
}

Result<void> bench_one(const Arguments& arguments, Console& console) {
  const Loaded loaded = TRY(load(arguments, console));
  const plan::Procedure& main = loaded.engine->plan().main;
  const auto seed = static_cast<uint64_t>(arguments.integer("--seed", 0));
  const std::vector<Tensor> inputs =
      TRY(read_inputs(main.inputs, arguments.values("--input"), image_options(arguments),
                      given_shapes(arguments), seed, console));
  runtime::Context context(loaded.engine);
  const double first_ms = TRY(timed_run(context, inputs));
  const double warmup_s = static_cast<double>(arguments.integer("--warmup-ms", 200)) / 1e3;
  if (warmup_s > 0) TRY(timed_runs(context, inputs, warmup_s, console));
  const Figures figures =
      figures_of(TRY(timed_runs(context, inputs, arguments.number("--duration-s", 3), console)));
  const int64_t weights = static_cast<int64_t>(loaded.engine->plan().weights.size());
  const int64_t arena = context.arena_bytes(), resident = process_bytes("VmRSS:"),
                peak = process_bytes("VmHWM:");

  note_device(*loaded.engine, console);
  print_figures(figures, loaded, first_ms, console);
  console.print(cat("memory: weights ", human_bytes(weights), ", arena ", human_bytes(arena),
                    ", engine ", human_bytes(weights + arena), ", resident ", human_bytes(resident),
                    " (peak ", human_bytes(peak), ")\n"));
  Json::Object json = described(loaded);
  const DeviceReport report{arguments.value("--trace"),
                            static_cast<int>(arguments.integer("--device-runs", 500))};
  TRY(report_device(context, report, console, json));
  if (const auto file = arguments.value("--json")) {
    const auto add = [&](std::string name, Json value) {
      json.emplace_back(std::move(name), std::move(value));
    };
    add("first_inference_ms", first_ms);
    add("n_runs", figures.n);
    add("latency_min_ms", figures.min);
    add("latency_max_ms", figures.max);
    add("latency_mean_ms", figures.mean);
    add("latency_median_ms", figures.median);
    add("latency_p90_ms", figures.p90);
    add("latency_p95_ms", figures.p95);
    add("latency_p99_ms", figures.p99);
    add("throughput_runs_per_s", 1e3 / figures.mean);
    add("weights_bytes", weights);
    add("arena_bytes", arena);
    add("engine_bytes", weights + arena);
    add("resident_bytes", resident);
    add("peak_resident_bytes", peak);
    Json::Array types;
    for (const Tensor& input : inputs) types.emplace_back(input.type_text());
    add("inputs", std::move(types));
    TRY(write_file(*file, Json(std::move(json)).text()));
  }
  return {};
}

constexpr int64_t kLargestRandomSize = 128;

/// One draw: every open size of the inputs as a number, batches from 1 to 4.
api::GivenShapes random_shapes(const std::vector<plan::Port>& ports,
                               const api::GivenShapes& fixed_shapes, std::mt19937_64& generator) {
  std::map<std::string, int64_t> drawn;
  api::GivenShapes shapes;
  for (const plan::Port& port : ports) {
    const auto given = fixed_shapes.find(port.name);
    std::vector<api::GivenDim>& dims = shapes[port.name];
    for (size_t d = 0; d < port.shape.size(); ++d) {
      api::GivenDim dim;
      const auto symbol = port.shape[d].as_symbol();
      if (given != fixed_shapes.end() && d < given->second.size() && given->second[d].size)
        dim.size = given->second[d].size;
      else if (symbol)
        dim.size =
            drawn
                .emplace(*symbol,
                         1 + static_cast<int64_t>(generator() % (d == 0 ? 4 : kLargestRandomSize)))
                .first->second;
      else
        dim.size = port.shape[d].known();
      if (symbol && dim.size) drawn.emplace(*symbol, *dim.size);
      dims.push_back(dim);
    }
  }
  return shapes;
}

/// The first run at a size against the median of those that follow.
struct NewShape {
  std::string inputs;
  double first_ms = 0, median_ms = 0;
  double ratio() const { return first_ms / median_ms; }
};

Result<void> report_new_shapes(const Arguments& arguments, const Loaded& loaded,
                               std::vector<NewShape> rows, Console& console) {
  std::sort(rows.begin(), rows.end(),
            [](const NewShape& a, const NewShape& b) { return a.ratio() > b.ratio(); });
  console.print(cat("first run / median run over ", rows.size(), " random sizes: highest ",
                    fixed(rows.front().ratio(), 2), "x, median ",
                    fixed(rows[rows.size() / 2].ratio(), 2), "x\n"));
  for (size_t i = 0; i < std::min<size_t>(rows.size(), 5); ++i)
    console.print(cat("  ", fixed(rows[i].ratio(), 2), "x: first ", fixed(rows[i].first_ms, 3),
                      " ms, median ", fixed(rows[i].median_ms, 3), " ms at ", rows[i].inputs,
                      "\n"));
  const auto file = arguments.value("--json");
  if (!file) return {};
  Json::Object json = described(loaded);
  Json::Array list;
  for (const NewShape& row : rows)
    list.push_back(Json::Object{{"inputs", row.inputs},
                                {"first_run_ms", row.first_ms},
                                {"median_run_ms", row.median_ms},
                                {"ratio", row.ratio()}});
  json.emplace_back("highest_ratio", rows.front().ratio());
  json.emplace_back("median_ratio", rows[rows.size() / 2].ratio());
  json.emplace_back("shapes", std::move(list));
  return write_file(*file, Json(std::move(json)).text());
}

Result<void> bench_new_shapes(const Arguments& arguments, Console& console) {
  constexpr int kRunsAtOneSize = 9;
  const Loaded loaded = TRY(load(arguments, console));
  const plan::Procedure& main = loaded.engine->plan().main;
  const auto seed = static_cast<uint64_t>(arguments.integer("--seed", 0));
  const int64_t n_shapes = arguments.integer("--shapes-random", 1);
  std::mt19937_64 generator(seed);
  runtime::Context context(loaded.engine);
  std::vector<NewShape> rows;
  for (int64_t n = 0; n < n_shapes; ++n) {
    console.progress("random sizes", static_cast<double>(n) / static_cast<double>(n_shapes));
    const api::GivenShapes shapes = random_shapes(main.inputs, given_shapes(arguments), generator);
    const std::vector<Tensor> inputs = TRY(read_inputs(main.inputs, {}, {}, shapes, seed, console));
    std::vector<std::string> types;
    for (const Tensor& input : inputs) types.push_back(input.type_text());
    NewShape row{join(types, " "), TRY(timed_run(context, inputs)), 0};
    std::vector<double> times;
    for (int i = 0; i < kRunsAtOneSize; ++i) times.push_back(TRY(timed_run(context, inputs)));
    row.median_ms = figures_of(std::move(times)).median;
    rows.push_back(std::move(row));
  }
  console.clear_progress();
  note_device(*loaded.engine, console);
  return report_new_shapes(arguments, loaded, std::move(rows), console);
}

Result<void> run_bench(const Arguments& arguments, Console& console) {
  if (!arguments.has("--shapes-random")) return bench_one(arguments, console);
  if (arguments.has("--input"))
    return error(Code::kInvalidArgument, "--shapes-random draws its own inputs, found --input ",
                 *arguments.value("--input"));
  return bench_new_shapes(arguments, console);
}

}  // namespace

Figures figures_of(std::vector<double> times) {
  CHECK(!times.empty(), "figures are of at least one run");
  std::sort(times.begin(), times.end());
  const auto at = [&](double quantile) {
    const double place = quantile * static_cast<double>(times.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, times.size() - 1);
    return times[below] + (place - static_cast<double>(below)) * (times[above] - times[below]);
  };
  Figures figures;
  figures.n = times.size();
  figures.min = times.front();
  figures.max = times.back();
  for (const double time : times) figures.mean += time / static_cast<double>(times.size());
  figures.median = at(0.5);
  figures.p90 = at(0.9);
  figures.p95 = at(0.95);
  figures.p99 = at(0.99);
  return figures;
}

const Command kBenchCommand = {
    .name = "bench",
    .summary = "Measures a plan, or a model compiled in memory: latency, throughput, memory.",
    .operands = "PLAN|MODEL.onnx",
    .min_operands = 1,
    .max_operands = 1,
    .details = "Inputs that --input does not give are random.",
    .options = kOptions,
    .example =
        "tilewright bench model.plan --shapes input_ids:8x128,attention_mask:8x128 --threads 2 "
        "--json bench.json\n"
        "tilewright bench model.plan --shapes-random 100",
    .run = run_bench,
};

}  // namespace tw::cli
