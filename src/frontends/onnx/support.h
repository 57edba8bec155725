// support.h: which operators of a model no op imports, all of them at once.
#pragma once

#include "base/result.h"
#include "frontends/onnx/raw_model.h"

namespace tw::onnx {

/// Fails with a list of every operator type that is not supported, with counts and the first node
/// of each.
Result<void> check_support(const RawGraph& graph);

/// Whether the importer itself turns this operator into a constant, so that no op is needed.
bool is_constant_node(const RawNode& node);

}  // namespace tw::onnx
