// functions.h: calls of the model's local functions are replaced by the functions' nodes, at every
// depth, so that what follows knows operators only.
#pragma once

#include "base/result.h"
#include "frontends/onnx/raw_model.h"

namespace tw::onnx {

/// Inlines every call in `model.graph` and its subgraphs. A call that is recursive, or that makes
/// more than `max_nodes` nodes, is an error.
Result<void> inline_functions(RawModel& model, int64_t max_nodes);

}  // namespace tw::onnx
