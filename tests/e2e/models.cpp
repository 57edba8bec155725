#include "models.h"

#include <filesystem>
#include <random>

#include "backends/cpu/build/target.h"
#include "compiler/compile.h"
#include "frontends/onnx/import.h"

namespace tw::e2e {
namespace {

std::string path_of(const Model& model) { return cat(TW_MODELS_DIR, "/", model.file); }

}  // namespace

std::vector<Model> models() {
  const std::vector<int64_t> tokens{2, 40};
  return {
      {"minilm/model.onnx",
       {{"input_ids", tokens}, {"attention_mask", tokens}, {"token_type_ids", tokens}},
       {{"input_ids", 30000}, {"attention_mask", 2}, {"token_type_ids", 2}}},
      {"ppocr/det.onnx", {{"x", {1, 3, 64, 96}}}, {}},
      {"ppocr/cls.onnx", {{"x", {2, 3, 48, 192}}}, {}},
      {"ppocr/rec.onnx", {{"x", {2, 3, 48, 80}}}, {}},
      {"silero/silero_vad_16k_op15.onnx",
       {{"input", {1, 576}}, {"state", {2, 1, 128}}},
       {{"sr", 16001}}},
      {"silero/silero_vad_16k_sequence.onnx", {{"input", {7, 576}}}, {}},
      {"magika/model.onnx", {{"bytes", {2, 2048}}}, {{"bytes", 256}}},
  };
}

bool is_there(const Model& model) { return std::filesystem::exists(path_of(model)); }

plan::Plan build(const Model& model, int workers) {
  onnx::ImportOptions import;
  import.shapes = model.shapes;
  ir::Graph graph = value_or_fail(onnx::import_onnx(path_of(model), import));
  compiler::CompileOptions options;
  options.workers = workers;
  return value_or_fail(
      compiler::compile(std::move(graph), *cpu::make_target(cpu::best_isa(), false), options));
}

std::vector<Tensor> random_inputs(const Model& model, const plan::Plan& plan, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> inputs;
  for (const plan::Port& port : plan.main.inputs) {
    Dims dims;
    for (const Dim& dim : port.shape) dims.push_back(dim.known().value_or(1));
    Tensor tensor = value_or_fail(Tensor::try_make(port.dtype, dims));
    const auto below = model.below.find(port.name);
    for (int64_t i = 0; i < tensor.count(); ++i) {
      if (is_float(port.dtype))
        tensor.set_float(i, std::normal_distribution<double>()(random));
      else
        tensor.set_int(
            i,
            static_cast<int64_t>(
                random() % static_cast<uint64_t>(below == model.below.end() ? 2 : below->second)));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].type_text() != b[i].type_text() ||
        std::memcmp(a[i].data(), b[i].data(), static_cast<size_t>(a[i].bytes())) != 0)
      return false;
  return true;
}

}  // namespace tw::e2e
