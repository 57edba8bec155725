#include "frontends/onnx/import.h"

#include <filesystem>

#include "base/mmap.h"
#include "frontends/onnx/convert.h"
#include "frontends/onnx/decode.h"
#include "frontends/onnx/functions.h"

namespace tw::onnx {
namespace {

Result<ir::Graph> import_bytes(std::span<const std::byte> bytes, const std::string& folder,
                               const ImportOptions& options) {
  if (static_cast<int64_t>(bytes.size()) > options.max_file_bytes)
    return error(Code::kUnsupported, "the model has ", bytes.size(), " bytes, expected at most ",
                 options.max_file_bytes, "; larger models keep their weights in external data");
  ExternalFiles files(folder);
  RawModel model = TRY(decode_model(bytes, files));
  TRY(inline_functions(model, options.max_nodes));
  ir::Graph graph = TRY(convert_model(model, options));
  if (options.note)
    for (const std::string& note : model.notes) options.note(note);
  return graph;
}

}  // namespace

Result<ir::Graph> import_onnx(const std::string& path, const ImportOptions& options) {
  const auto file = TRY(MappedFile::open(path));
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return import_bytes(file->bytes(), parent.empty() ? "." : parent.string(), options)
      .in(in_quotes(path));
}

Result<ir::Graph> import_onnx_bytes(std::span<const std::byte> bytes, std::string_view name,
                                    const ImportOptions& options) {
  return import_bytes(bytes, options.folder, options).in(in_quotes(name));
}

std::vector<InputSymbol> input_symbols(const ir::Graph& graph) {
  std::vector<InputSymbol> symbols;
  for (const ir::ValueId id : graph.inputs) {
    const ir::Value& input = graph.value(id);
    for (size_t axis = 0; axis < input.type.shape.size(); ++axis)
      if (const auto symbol = input.type.shape[axis].as_symbol())
        symbols.push_back({*symbol, input.name, axis});
  }
  return symbols;
}

}  // namespace tw::onnx
