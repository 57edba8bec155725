// The ONNX reader: any bytes come back as a legal graph or as a sentence. Inputs are small models
// of the reader's own tests and two real ones, changed field by field (wire.h) or byte by byte.
#include <fstream>
#include <iterator>

#include "driver.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/test_models.h"
#include "ir/verify.h"
#include "wire.h"

namespace tw::fuzz {
namespace {

constexpr const char* kRealModels[] = {TW_SOURCE_DIR "/models/ppocr/cls.onnx",
                                       TW_SOURCE_DIR "/models/silero/silero_vad_16k_op15.onnx"};
constexpr size_t kSmallModels = 5;
constexpr size_t kTurnsOfSmall = 20;  // real ones take a hundred times as long to read

Bytes read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Bytes small_model(size_t i) {
  switch (i) {
    case 0:
      return onnx::bytes_of(onnx::mlp_model());
    case 1:
      return onnx::bytes_of(onnx::if_model());
    case 2:
      return onnx::bytes_of(onnx::loop_model());
    case 3:
      return onnx::bytes_of(onnx::scan_model());
    default:
      return onnx::bytes_of(onnx::function_model());
  }
}

}  // namespace

const char* const kName = "onnx_fuzz";

size_t n_seeds() { return kSmallModels * kTurnsOfSmall + std::size(kRealModels); }

/// A real model that is not there is a small one.
Bytes make_seed(size_t i) {
  const Bytes real = i < std::size(kRealModels) ? read_file(kRealModels[i]) : Bytes();
  return real.empty() ? small_model(i % kSmallModels) : real;
}

Bytes mutate(const Bytes& input, const Bytes& other, Random& random) {
  const size_t n_changes = 1 + below(random, 4);
  auto message = one_in(random, 4) ? std::nullopt : read_message(input);
  if (message) {
    const Message donor = read_message(other).value_or(Message());
    for (size_t i = 0; i < n_changes; ++i) change_field(*message, donor, random);
    return write_message(*message);
  }
  Bytes changed = input;
  for (size_t i = 0; i < n_changes; ++i) damage(changed, other, random);
  return changed;
}

std::string try_input(std::string_view input) {
  onnx::ImportOptions options;
  options.max_nodes = 10000;
  const auto bytes = std::as_bytes(std::span(input));
  const auto graph = onnx::import_onnx_bytes(bytes, "fuzz", options);
  if (!graph.ok()) {
    if (graph.error().message.empty()) fail("an error without a sentence");
    return "refused";
  }
  const auto legal = ir::verify(graph.value());
  if (!legal.ok()) fail(cat("an imported graph is not legal: ", legal.error().message));
  return "imported";
}

}  // namespace tw::fuzz
