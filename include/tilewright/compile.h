// compile.h: from a model file to a plan. Only programs that compile need this header and the
// library behind it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/plan.h"

namespace tilewright {

struct CompileOptions {
  /// Sizes of inputs by name: "1x3xHxW". A number binds a size, a letter keeps it open, equal
  /// letters are equal sizes. An open size of the model that is not covered is an error, but for a
  /// batch, which becomes 1.
  std::map<std::string, std::string> shapes;
  std::string isa;        ///< "sse42", "avx2" or "avx512"; empty: the best of this machine
  bool portable = false;  ///< weights stay plain: the plan runs on every instruction set
  int workers =
      1;  ///< more: every operator is cut into tiles for so many workers; needs every size bound
  std::vector<std::string> skip_passes;  ///< optimisations to leave out, by name
  /// Told what was assumed (a batch became 1). Called on the compiling thread; may be empty.
  std::function<void(std::string_view)> note;
  /// Told which step begins and how far the whole is, 0 to 1. Called on the compiling thread; may
  /// be empty.
  std::function<void(std::string_view step, double fraction)> progress;
};

/// Compiles the ONNX model in the file `path` (external data beside it). Any bytes may be in the
/// file. Fails with kNotFound, kCorrupt, kInvalidModel, kUnsupported (naming node, operator,
/// attribute and reason) or kInvalidArgument (options). Safe to call from several threads.
Result<Plan> compile_onnx(const std::string& path, const CompileOptions& options = {});

}  // namespace tilewright
