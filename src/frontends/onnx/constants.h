// constants.h: ONNX Constant nodes, which are values of the graph rather than nodes.
#pragma once

#include "base/result.h"
#include "frontends/onnx/scope.h"

namespace tw::onnx {

/// Adds the constant that `node` stands for, whichever of its attributes holds the value.
Result<void> convert_constant(Scope& scope, const RawNode& node);

}  // namespace tw::onnx
