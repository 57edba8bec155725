#include "frontends/onnx/import.h"

#include <filesystem>

#include "base/mmap.h"
#include "frontends/onnx/convert.h"
#include "frontends/onnx/decode.h"
#include "frontends/onnx/functions.h"
#include "frontends/onnx/inputs.h"

namespace tw::onnx {
namespace {

Result<RawModel> decode(std::span<const std::byte> bytes, const std::string& folder,
                        const ImportOptions& options) {
  if (static_cast<int64_t>(bytes.size()) > options.max_file_bytes)
    return error(Code::kUnsupported, "the model has ", bytes.size(), " bytes, expected at most ",
                 options.max_file_bytes, "; larger models keep their weights in external data");
  ExternalFiles files(folder);
  return decode_model(bytes, files);
}

Result<ir::Graph> import_bytes(std::span<const std::byte> bytes, const std::string& folder,
                               const ImportOptions& options) {
  RawModel model = TRY(decode(bytes, folder, options));
  TRY(inline_functions(model, options.max_nodes));
  ir::Graph graph = TRY(convert_model(model, options));
  if (options.note)
    for (const std::string& note : model.notes) options.note(note);
  return graph;
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

void add_symbols(const std::string& input, const ir::Shape& shape,
                 std::vector<InputSymbol>& symbols) {
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (const auto symbol = shape[axis].as_symbol()) symbols.push_back({*symbol, input, axis});
}

Result<std::vector<InputSymbol>> symbols_of(std::span<const std::byte> bytes,
                                            const std::string& folder,
                                            const ImportOptions& options) {
  const RawModel model = TRY(decode(bytes, folder, options));
  const auto types = TRY(input_types(model.graph.inputs, options));
  std::vector<InputSymbol> symbols;
  for (size_t i = 0; i < types.size(); ++i)
    add_symbols(model.graph.inputs[i].name, types[i].shape, symbols);
  return symbols;
}

}  // namespace

Result<ir::Graph> import_onnx(const std::string& path, const ImportOptions& options) {
  const auto file = TRY(MappedFile::open(path));
  return import_bytes(file->bytes(), folder_of(path), options).in(in_quotes(path));
}

Result<ir::Graph> import_onnx_bytes(std::span<const std::byte> bytes, std::string_view name,
                                    const ImportOptions& options) {
  return import_bytes(bytes, options.folder, options).in(in_quotes(name));
}

std::vector<InputSymbol> input_symbols(const ir::Graph& graph) {
  std::vector<InputSymbol> symbols;
  for (const ir::ValueId id : graph.inputs)
    add_symbols(graph.value(id).name, graph.value(id).type.shape, symbols);
  return symbols;
}

Result<std::vector<InputSymbol>> find_input_symbols(const std::string& path,
                                                    const ImportOptions& options) {
  const auto file = TRY(MappedFile::open(path));
  return symbols_of(file->bytes(), folder_of(path), options).in(in_quotes(path));
}

}  // namespace tw::onnx
