// libFuzzer entry of the ONNX importer: any bytes come back as a graph or as an error. Build with
// clang and TILEWRIGHT_FUZZ.
#include <cstddef>
#include <cstdint>

#include "frontends/onnx/import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tw::onnx::ImportOptions options;
  options.max_nodes = 10000;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto graph = tw::onnx::import_onnx_bytes(bytes, "fuzz", options);
  return graph.ok() || !graph.error().message.empty() ? 0 : -1;
}
