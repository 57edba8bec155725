#include "api/compile_model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "api/targets.h"
#include "api/version.h"
#include "base/memory.h"
#include "base/mmap.h"
#include "compiler/compile.h"
#include "frontends/onnx/import.h"

namespace tw::api {
namespace {

Result<void> check_passes(const std::set<std::string>& names) {
  for (const std::string& name : names) {
    const auto known = passes::pipeline();
    if (std::any_of(known.begin(), known.end(),
                    [&](const passes::Pass& pass) { return name == pass.name; }))
      continue;
    std::vector<std::string> all;
    for (const passes::Pass& pass : known) all.emplace_back(pass.name);
    return error(Code::kInvalidArgument, "there is no pass '", name, "'; the passes are ",
                 join(all, ", "));
  }
  return {};
}

/// A plan holds the weights in memory once more, so a model whose weights alone pass it is refused
/// before the work begins.
Result<void> check_weights_fit(const ir::Graph& graph) {
  int64_t wanted = 0;
  for (const ir::Value& value : graph.values)
    if (value.constant) wanted += value.constant->bytes();
  return check_memory(wanted).in("weights");
}

/// The options in full, for the contract.
std::map<std::string, std::string> describe(const BuildOptions& options) {
  std::vector<std::string> shapes;
  for (const auto& [input, dims] : options.model.shapes) {
    std::vector<std::string> words;
    for (const GivenDim& dim : dims) words.push_back(dim.size ? cat(*dim.size) : dim.word);
    shapes.push_back(cat(input, ":", join(words, "x")));
  }
  return {{"builder", cat("tilewright ", version())},
          {"precision", std::string(precision_name(options.precision))},
          {"shapes", join(shapes, ",")},
          {"skip_passes", join(options.skip_passes, ",")}};
}

}  // namespace

Result<ir::Graph> load_graph(const std::string& path, const ModelOptions& options) {
  onnx::ImportOptions import;
  import.shapes = bound_sizes(options.shapes);
  import.note = options.note;
  ir::Graph graph = TRY(onnx::import_onnx(path, import));
  TRY(check_weights_fit(graph).in(cat("model '", path, "'")));
  TRY(settle_sizes(graph, options.shapes, options.paste, options.note)
          .in(cat("model '", path, "'")));
  return graph;
}

Result<plan::Plan> compile_graph(ir::Graph graph, std::string model_hash,
                                 const BuildOptions& options) {
  TRY(check_passes(options.skip_passes));
  compiler::CompileOptions compile;
  compile.model_hash = std::move(model_hash);
  compile.workers = options.workers;
  compile.skip_passes = options.skip_passes;
  compile.describe = describe(options);
  compile.progress = options.progress;
  if (options.precision == Precision::kFp16) compile.compute_type = DType::kF16;
  if (options.precision == Precision::kBf16) compile.compute_type = DType::kBF16;
  const auto target = TRY(make_target(options));
  return compiler::compile(std::move(graph), *target, compile);
}

constexpr std::string_view kPrecisionNames[] = {"fp32", "tf32", "fp16", "bf16"};

std::optional<Precision> find_precision(std::string_view name) {
  for (size_t i = 0; i < std::size(kPrecisionNames); ++i)
    if (name == kPrecisionNames[i]) return static_cast<Precision>(i);
  return std::nullopt;
}

std::string_view precision_name(Precision precision) {
  return kPrecisionNames[static_cast<size_t>(precision)];
}

Result<plan::Plan> compile_model(const std::string& path, const BuildOptions& options) {
  if (options.progress) options.progress("import", 0);
  ir::Graph graph = TRY(load_graph(path, options.model));
  return compile_graph(std::move(graph), TRY(hash_file(path)), options)
      .in(cat("model '", path, "'"));
}

std::optional<cpu::Isa> find_isa(std::string_view name) {
  if (name == "v2") return cpu::Isa::kSse42;
  for (const cpu::Isa isa : cpu::kAllIsas)
    if (name == cpu::isa_name(isa)) return isa;
  return std::nullopt;
}

Result<std::string> hash_file(const std::string& path) {
  const auto file = TRY(MappedFile::open(path));
  const uint64_t hash = XXH3_64bits(file->data(), file->bytes().size());
  std::string text = "xxh3:";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

}  // namespace tw::api
