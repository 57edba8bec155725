// gpu_flat: engines and contexts come and go ten thousand times, and memory stays flat.
//
//   gpu_flat PLAN [--cycles N] [--warmup N] [--sizes 1,2,4] [--fill NAME=V] [--json FILE]
//
// A cycle loads the plan, makes an engine and a context, runs twice at one size (launch by launch,
// then as a CUDA graph), every fourth time at a second size too, and lets all of it go. The sizes
// take turns; each is what every open dim of the inputs becomes. Every answer must have the bits of
// the first at its size. What the process holds after the warm-up is compared with what it holds at
// the end: host memory may grow by 2 MiB and what it wavers by, device memory, open files and
// threads by nothing. Nothing else may use the device meanwhile. Exit code 77: the plan is for a
// machine that is not here.
#include <cuda_runtime_api.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/engine.h"

namespace {

using tilewright::Code;
using tilewright::DType;
using tilewright::Error;
using tilewright::Result;
using tilewright::Tensor;

constexpr int64_t kHostBoundBytes = int64_t{2} << 20;
constexpr int64_t kCyclesBetweenSamples = 10;  // of host memory, in the second half of the warm-up
constexpr int kFailed = 1, kCalledWrongly = 2, kSkipped = 77;

struct Options {
  std::string plan, json;
  int64_t cycles = 10000, warmup = 200;
  std::vector<int64_t> sizes{1, 2, 4};
  std::map<std::string, double> fill;  // by input; else floats in [-1, 1) and integers 1
};

/// What the process holds. Of the device: what all processes hold, as the driver says.
struct Footprint {
  int64_t host_bytes = 0, device_bytes = 0, files = 0, threads = 0;
};

int64_t count_entries(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return std::distance(begin(entries), end(entries));
}

int64_t resident_bytes() {
  malloc_trim(0);  // what is free is not held
  std::ifstream file("/proc/self/statm");
  int64_t size_pages = 0, resident_pages = 0;
  file >> size_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

Footprint footprint(bool on_device) {
  Footprint now;
  now.host_bytes = resident_bytes();
  now.files = count_entries("/proc/self/fd");
  now.threads = count_entries("/proc/self/task");
  size_t free = 0, total = 0;
  if (on_device && cudaMemGetInfo(&free, &total) == cudaSuccess)
    now.device_bytes = static_cast<int64_t>(total - free);
  return now;
}

template <class T>
void fill_tensor(Tensor& tensor, const double* value) {
  T* elements = tensor.as<T>();
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double wave = static_cast<double>(i * 7919 % 2000 - 1000) / 1000;
    const double own = std::is_floating_point_v<T> ? wave : 1;
    elements[i] = static_cast<T>(value == nullptr ? own : *value);
  }
}

Result<Tensor> make_input(const tilewright::Port& port, int64_t size, const Options& options) {
  std::vector<int64_t> dims;
  for (const std::string& dim : port.dims) {
    char* end = nullptr;
    const int64_t number = std::strtoll(dim.c_str(), &end, 10);
    if (end != dim.c_str() && *end != '\0')
      return Error{Code::kUnsupported, "input '" + port.name + "' has the size '" + dim + "'"};
    dims.push_back(end != dim.c_str() ? number : size);
  }
  Result<Tensor> tensor = Tensor::create(port.dtype, dims);
  if (!tensor) return tensor;
  const auto given = options.fill.find(port.name);
  const double* value = given == options.fill.end() ? nullptr : &given->second;
  switch (port.dtype) {
    case DType::kF32:
      fill_tensor<float>(tensor.value(), value);
      return tensor;
    case DType::kI32:
      fill_tensor<int32_t>(tensor.value(), value);
      return tensor;
    case DType::kI64:
      fill_tensor<int64_t>(tensor.value(), value);
      return tensor;
    default:
      return Error{Code::kUnsupported, "input '" + port.name + "' is " +
                                           tilewright::dtype_name(port.dtype) +
                                           ", expected f32, i32 or i64"};
  }
}

/// Cycles over one plan, and the first answers at each size.
class Cycles {
 public:
  explicit Cycles(const Options& options) : options_(options) {}

  Result<void> run(int64_t cycle) {
    const Result<tilewright::Plan> plan = tilewright::Plan::load(options_.plan);
    if (!plan) return plan.error();
    tilewright::EngineOptions engine_options;
    engine_options.threads = 1;
    const Result<tilewright::Engine> engine = tilewright::Engine::create(*plan, engine_options);
    if (!engine) return engine.error();
    tilewright::Context context = engine->create_context();
    const auto n = static_cast<int64_t>(options_.sizes.size());
    const int64_t n_sizes = cycle % 4 == 3 ? 2 : 1;
    for (int64_t i = cycle; i < cycle + n_sizes; ++i) {
      const int64_t size = options_.sizes[static_cast<size_t>(i % n)];
      const Result<void> done = run_twice(context, plan->inputs(), size);
      if (!done) return done;
    }
    return {};
  }

 private:
  Result<void> run_twice(tilewright::Context& context, const std::vector<tilewright::Port>& ports,
                         int64_t size) {
    std::vector<Tensor> inputs;
    for (const tilewright::Port& port : ports) {
      Result<Tensor> input = make_input(port, size, options_);
      if (!input) return input.error();
      inputs.push_back(std::move(input.value()));
    }
    for (const char* way : {"first", "second"}) {
      const Result<std::vector<Tensor>> outputs = context.run(inputs);
      if (!outputs) return outputs.error();
      std::string bits;
      for (const Tensor& output : *outputs)
        bits.append(static_cast<const char*>(output.data()), static_cast<size_t>(output.bytes()));
      const auto [known, is_new] = answers_.try_emplace(size, bits);
      if (!is_new && known->second != bits)
        return Error{Code::kInternal, std::string("the ") + way + " run at size " +
                                          std::to_string(size) + " has other bits than before"};
    }
    return {};
  }

  const Options& options_;
  std::map<int64_t, std::string> answers_;
};

/// One line, and a file for the suite; whether memory stayed flat.
bool report(const Options& options, const Footprint& before, const Footprint& after,
            int64_t noise_bytes, double seconds) {
  const int64_t host = after.host_bytes - before.host_bytes;
  const int64_t device = after.device_bytes - before.device_bytes;
  const int64_t files = after.files - before.files, threads = after.threads - before.threads;
  const bool flat =
      host <= kHostBoundBytes + noise_bytes && device <= 0 && files <= 0 && threads <= 0;
  const auto mib = [](int64_t bytes) { return static_cast<double>(bytes) / 1048576.0; };
  std::printf(
      "%s: %ld cycles in %.1f s: host %.2f -> %.2f MiB (%+.2f, bound %.2f), device %.2f -> %.2f "
      "MiB (%+.2f, bound 0), files %+ld, threads %+ld: %s\n",
      options.plan.c_str(), static_cast<long>(options.cycles), seconds, mib(before.host_bytes),
      mib(after.host_bytes), mib(host), mib(kHostBoundBytes + noise_bytes),
      mib(before.device_bytes), mib(after.device_bytes), mib(device), static_cast<long>(files),
      static_cast<long>(threads), flat ? "flat" : "GREW");
  if (!options.json.empty()) {
    std::ofstream(options.json) << "{\"cycles\": " << options.cycles << ", \"seconds\": " << seconds
                                << ", \"host_start_bytes\": " << before.host_bytes
                                << ", \"host_growth_bytes\": " << host
                                << ", \"host_bound_bytes\": " << kHostBoundBytes + noise_bytes
                                << ", \"device_start_bytes\": " << before.device_bytes
                                << ", \"device_growth_bytes\": " << device
                                << ", \"files_growth\": " << files
                                << ", \"threads_growth\": " << threads
                                << ", \"flat\": " << (flat ? "true" : "false") << "}\n";
  }
  return flat;
}

int fail(const Error& error, int64_t cycle) {
  const bool skipped = error.code == Code::kIncompatible && cycle == 0;
  std::fprintf(stderr, "gpu_flat: cycle %ld: %s\n", static_cast<long>(cycle),
               error.message.c_str());
  return skipped ? kSkipped : kFailed;
}

int run(const Options& options) {
  const Result<tilewright::Plan> plan = tilewright::Plan::load(options.plan);
  if (!plan) return fail(plan.error(), 0);
  const bool on_device = plan->contract("target").starts_with("sm_");
  Cycles cycles(options);
  Footprint before;
  int64_t least = INT64_MAX, most = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t cycle = 0; cycle < options.cycles; ++cycle) {
    const Result<void> done = cycles.run(cycle);
    if (!done) return fail(done.error(), cycle);
    if (2 * cycle >= options.warmup && cycle < options.warmup &&
        cycle % kCyclesBetweenSamples == 0) {
      least = std::min(least, resident_bytes());
      most = std::max(most, resident_bytes());
    }
    if (cycle + 1 == options.warmup) before = footprint(on_device);
  }
  const Footprint after = footprint(on_device);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return report(options, before, after, std::max<int64_t>(0, most - least), seconds.count())
             ? 0
             : kFailed;
}

std::vector<int64_t> numbers(std::string_view text) {
  std::vector<int64_t> found;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    found.push_back(std::strtoll(std::string(text.substr(0, comma)).c_str(), nullptr, 10));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return found;
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      options.plan = word;
      continue;
    }
    if (++i == argc) return std::nullopt;
    const std::string value = argv[i];
    const size_t equals = value.find('=');
    if (word == "--cycles")
      options.cycles = numbers(value).at(0);
    else if (word == "--warmup")
      options.warmup = numbers(value).at(0);
    else if (word == "--sizes")
      options.sizes = numbers(value);
    else if (word == "--json")
      options.json = value;
    else if (word == "--fill" && equals != std::string::npos)
      options.fill[value.substr(0, equals)] = std::strtod(value.c_str() + equals + 1, nullptr);
    else
      return std::nullopt;
  }
  const bool sizes_are_right =
      !options.sizes.empty() && *std::min_element(options.sizes.begin(), options.sizes.end()) > 0;
  const bool right = !options.plan.empty() && sizes_are_right && options.warmup > 0 &&
                     options.cycles > options.warmup;
  return right ? std::optional(options) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr,
                 "usage: gpu_flat PLAN [--cycles N] [--warmup N, fewer] [--sizes 1,2,4] "
                 "[--fill NAME=V] [--json FILE]\n");
    return kCalledWrongly;
  }
  return run(*options);
}
