// What only shows after thousands of times: plans, engines and contexts made, used and destroyed,
// and one engine that meets new sizes for ever. Resident memory stays where it was once every part
// had its first turns.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "frontends/onnx/test_models.h"
#include "temp_files.h"
#include "tilewright/tilewright.h"

namespace tilewright {
namespace {

constexpr int kWarmUpShare = 5;               // of the turns, before memory is looked at
constexpr int64_t kMaxGrowthBytes = 4 << 20;  // a leak of 1 KiB a turn passes it in 4096 turns
constexpr int64_t kMaxRows = 3000;            // more sizes than an engine keeps programs for
constexpr int kCompileEvery = 50;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "soak: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) fail(result.error().message);
  return std::move(result).value();
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  if (!(statm >> total >> resident)) fail("/proc/self/statm cannot be read");
  return resident * sysconf(_SC_PAGESIZE);
}

/// y = relu(x w + b) with w and b of ones: each element is the sum of a row of x, plus 1.
void run_rows(Context& context, int64_t rows) {
  const std::vector<float> values(static_cast<size_t>(rows) * 4, 0.5F);
  const auto outputs = value_of(context.run({value_of(Tensor::from<float>({rows, 4}, values))}));
  const float* y = outputs[0].as<float>();
  if (outputs[0].dims() != std::vector<int64_t>{rows, 8}) fail("a wrong shape comes out");
  for (int64_t i = 0; i < outputs[0].count(); ++i)
    if (y[i] != 3) fail("a wrong number comes out");
}

/// `turn(i)` for every i; memory after the first turns against memory at the end.
void repeat(const char* what, int turns, const std::function<void(int)>& turn) {
  const auto begin = std::chrono::steady_clock::now();
  int64_t before = 0;
  for (int i = 0; i < turns; ++i) {
    if (i == turns / kWarmUpShare) before = resident_bytes();
    turn(i);
  }
  const int64_t growth = resident_bytes() - before;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%s: %d turns in %.0f s, %lld KiB resident, %lld KiB more than after %d turns\n",
              what, turns, seconds.count(), static_cast<long long>(resident_bytes() / 1024),
              static_cast<long long>(growth / 1024), turns / kWarmUpShare);
  if (growth > kMaxGrowthBytes)
    fail(std::string(what) + ": memory grows by " + std::to_string(growth) + " bytes");
}

Plan compile(const std::string& model) {
  CompileOptions options;
  options.shapes["x"] = "Nx4";
  return value_of(compile_onnx(model, options));
}

void soak(int turns) {
  const tw::cli_test::TempFolder folder;
  const std::string model = folder.file("model.onnx"), file = folder.file("model.plan");
  tw::cli_test::write_all(model, tw::onnx::bytes_of(tw::onnx::mlp_model()));
  if (!compile(model).save(file).ok()) fail("the plan cannot be saved");
  repeat("load, create, run, destroy", turns, [&](int i) {
    const Engine engine = value_of(Engine::create(value_of(Plan::load(file)), {.threads = 2}));
    for (int c = 0; c < 2; ++c) {
      Context context = engine.create_context();
      run_rows(context, 1 + i % 64);
    }
  });
  const Engine engine = value_of(Engine::create(value_of(Plan::load(file)), {.threads = 2}));
  Context context = engine.create_context();
  repeat("changing sizes", turns,
         [&](int i) { run_rows(context, 1 + static_cast<int64_t>(i) * 7919 % kMaxRows); });
  repeat("compile", turns / kCompileEvery, [&](int) { compile(model); });
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) != "--cycles" || std::atoi(argv[2]) < 100) {
    std::fprintf(stderr, "usage: %s --cycles N, at least 100\n", argv[0]);
    return 2;
  }
  tilewright::soak(std::atoi(argv[2]));
  return 0;
}
