// ready_bench.cpp: how long it takes until a plan can run: milliseconds from a plan file to an
// engine, and milliseconds per 500 tasks from new sizes to a proved program with its executor.
//
// Usage: ready_bench [--repeats N]. Models come from models/, plans are built at the start. Every
// answer is checked. Other work on the machine only ever slows a repetition down, so the lowest is
// printed beside the median. Exit code 77: no models are there.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "api/compile_model.h"
#include "runtime/engine.h"
#include "task/variants.h"

namespace tw {
namespace {

using Clock = std::chrono::steady_clock;
using Sizes = std::vector<int64_t>;

struct Model {
  const char* name;
  const char* file;  // below models/
  const char* shapes;
  int64_t step;  // open sizes are multiples of this
};
constexpr Model kModels[] = {
    {"minilm", "minilm/model.onnx", "input_ids:NxS,attention_mask:NxS,token_type_ids:NxS", 1},
    {"det", "ppocr/det.onnx", "x:1x3xHxW", 32},
    {"cls", "ppocr/cls.onnx", "x:Nx3x48x192", 1},
    {"rec", "ppocr/rec.onnx", "x:Nx3x48xW", 8},
};

template <class T>
T value_or_exit(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "ready_bench: %s\n", result.error().message.c_str());
    std::exit(1);
  }
  return std::move(result).take();
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "ready_bench: %s\n", what);
  std::exit(1);
}

struct Times {
  std::vector<double> ms;
  template <class Work>
  auto add(Work&& work) {
    const auto begin = Clock::now();
    auto made = work();
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    return made;
  }
  double quantile(double q) {
    std::sort(ms.begin(), ms.end());
    return ms[static_cast<size_t>(q * static_cast<double>(ms.size() - 1))];
  }
};

/// Every op takes its variant by size, as those of a GPU's plan do whose kernels were measured.
void add_ranges(task::Program& program) {
  for (uint32_t op = 0; op < program.op_names.size(); ++op)
    for (const int64_t up_to : {int64_t{1000}, int64_t{100000}, task::VariantRange::kNoBound}) {
      task::VariantRange range;
      range.up_to_elems = up_to;
      range.op = op;
      range.variant = static_cast<uint8_t>(1 + program.parametric.variants.size() % 3);
      program.parametric.variants.push_back(range);
    }
  task::pick_variants(program.parametric.variants, program.slots, program.records);
}

plan::Plan build(const Model& model) {
  api::BuildOptions options;
  options.model.shapes = value_or_exit(api::parse_shapes(model.shapes));
  plan::Plan plan = value_or_exit(api::compile_model(cat(TW_MODELS_DIR, "/", model.file), options));
  for (task::Program& program : plan.programs)
    if (program.is_parametric()) add_ranges(program);
  return plan;
}

/// `n` sets of sizes that differ from each other and from those the program was built at.
std::vector<Sizes> new_sizes(const task::Program& program, const Model& model, size_t n) {
  std::mt19937_64 random(20261130);
  const size_t range = std::max<size_t>(128, 2 * n);  // one open size has enough to draw from
  std::vector<Sizes> all{program.parametric.sample};
  while (all.size() <= n) {
    Sizes sizes;
    for (size_t s = 0; s < program.parametric.symbols.size(); ++s)
      sizes.push_back(model.step * static_cast<int64_t>(1 + random() % range));
    if (std::find(all.begin(), all.end(), sizes) == all.end()) all.push_back(sizes);
  }
  all.erase(all.begin());
  return all;
}

/// A program made for other sizes is proved, and made for the first sizes again it is the first.
void check_instance(const task::Program& original, const runtime::Instance& instance) {
  value_or_exit(task::verify(instance.program));
  const task::Program back =
      value_or_exit(task::instantiate(instance.program, original.parametric.sample));
  require(task::print(back) == task::print(original),
          "a program made for other sizes and back is another");
}

void bench_instances(const Model& model, const plan::Plan& plan, size_t repeats) {
  const auto engine = value_or_exit(runtime::Engine::make(plan, {}));
  for (uint32_t p = 0; p < plan.programs.size(); ++p) {
    const task::Program& program = plan.programs[p];
    if (!program.is_parametric()) continue;
    Times times;
    for (const Sizes& sizes : new_sizes(program, model, repeats))
      check_instance(program,
                     *value_or_exit(times.add([&] { return engine->instance(p, sizes); })));
    const double scale = 500.0 / static_cast<double>(program.records.size());
    std::printf("new sizes: %s, %zu tasks, %zu slots: lowest %.3f, median %.3f ms per 500 tasks\n",
                model.name, program.records.size(), program.slots.size(), scale * times.quantile(0),
                scale * times.quantile(0.5));
  }
}

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "ready_bench_XXXXXX") {
    std::string text = path_.string();
    require(::mkdtemp(text.data()) != nullptr, "cannot make a temporary folder");
    path_ = text;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// One flipped bit in the middle of every 4 MiB is found, wherever it is.
void check_refusals(const std::string& path, int64_t file_bytes) {
  constexpr int64_t kStep = int64_t{4} << 20;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (int64_t at = kStep / 2; at < file_bytes; at += kStep) {
    file.seekg(at);
    const char byte = static_cast<char>(file.get());
    file.seekp(at).put(static_cast<char>(byte ^ 1)).flush();
    require(!plan::read_plan(path).ok(), "a plan with a wrong byte loads");
    file.seekp(at).put(byte).flush();
  }
}

void bench_load(const Model& model, const plan::Plan& plan, size_t repeats) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.plan");
  const int64_t bytes = value_or_exit(plan::write_plan(plan, path));
  check_refusals(path, bytes);
  Times times;
  for (size_t i = 0; i < repeats; ++i) {
    const auto engine =
        value_or_exit(times.add([&]() -> Result<std::shared_ptr<const runtime::Engine>> {
          return runtime::Engine::make(TRY(plan::read_plan(path)), {});
        }));
    const auto& weights = engine->plan().weights;
    require(std::equal(weights.begin(), weights.end(), plan.weights.begin(), plan.weights.end()),
            "a plan comes back with other weights");
  }
  std::printf("load: %s, %.1f MB: lowest %.2f, median %.2f ms, %.2f and %.2f ms per 100 MB\n",
              model.name, static_cast<double>(bytes) / 1e6, times.quantile(0), times.quantile(0.5),
              times.quantile(0) * 1e8 / static_cast<double>(bytes),
              times.quantile(0.5) * 1e8 / static_cast<double>(bytes));
}

int run(size_t repeats) {
  bool any = false;
  for (const Model& model : kModels) {
    if (!std::filesystem::exists(cat(TW_MODELS_DIR, "/", model.file))) continue;
    any = true;
    const plan::Plan plan = build(model);
    bench_instances(model, plan, repeats);
    bench_load(model, plan, repeats);
  }
  if (!any) std::printf("skipped: no models are in %s\n", TW_MODELS_DIR);
  return any ? 0 : 77;
}

}  // namespace
}  // namespace tw

int main(int argc, char** argv) {
  size_t repeats = 100;
  if (argc == 3 && std::string_view(argv[1]) == "--repeats")
    repeats = static_cast<size_t>(std::max(1, std::atoi(argv[2])));
  else if (argc != 1) {
    std::fprintf(stderr, "usage: ready_bench [--repeats N]\n");
    return 2;
  }
  return tw::run(repeats);
}
