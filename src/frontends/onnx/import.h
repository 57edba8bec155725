// import.h: from an ONNX model to the compiler's graph. Any bytes may come in: what cannot be read
// is an error that names file, node, operator, attribute and reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace tw::onnx {

struct ImportOptions {
  /// Dims for inputs, by name: -1 keeps the model's dim, a number binds it (and the symbol,
  /// wherever else it stands). A number that differs from a fixed dim of the model is an error.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Where external data of a model given as bytes may lie; empty: nowhere. import_onnx takes the
  /// file's folder.
  std::string folder;
  /// Limits against files made to exhaust memory. External data does not count, it is mapped.
  int64_t max_file_bytes = INT32_MAX;
  /// Nodes after inlining; a body that is read anew while a loop's types settle counts again.
  int64_t max_nodes = int64_t{1} << 20;
  /// Told what was accepted though it is unusual (a newer opset ...).
  std::function<void(std::string_view)> note;
};

/// The graph of the model in the file `path`. Values keep their ONNX names; initialisers are
/// constants, also those that are graph inputs too. Dims with a name are symbols of that name
/// (other characters than letters, digits, '_' and '.' become '_'), those without are `INPUT_dimI`.
Result<ir::Graph> import_onnx(const std::string& path, const ImportOptions& options = {});

/// The same for a model in memory; `name` stands for the file in errors. The graph does not refer
/// to `bytes`.
Result<ir::Graph> import_onnx_bytes(std::span<const std::byte> bytes, std::string_view name,
                                    const ImportOptions& options = {});

/// One place where an input symbol can be bound.
struct InputSymbol {
  std::string symbol;
  std::string input;
  size_t axis;
};
/// Every dim of an input that is a symbol, in the order of the inputs; a symbol may occur more than
/// once.
std::vector<InputSymbol> input_symbols(const ir::Graph& graph);
/// The same for a file, of which only the inputs are looked at: some models can be imported only
/// after their symbols are bound.
Result<std::vector<InputSymbol>> find_input_symbols(const std::string& path,
                                                    const ImportOptions& options = {});

}  // namespace tw::onnx
