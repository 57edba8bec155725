// attrs.h: attributes of ONNX nodes as attributes of the graph's nodes.
#pragma once

#include "base/result.h"
#include "frontends/onnx/raw_model.h"
#include "ir/graph.h"
#include "ir/op_def.h"

namespace tw::onnx {

/// All attributes of `node` but its subgraphs, which only control flow has
/// (frontends/onnx/control.h).
Result<ir::Attrs> to_attrs(const RawNode& node);

/// Keeps what `op` declares, in the type of its default, and drops what equals the default. An
/// attribute that the op does not declare, or of another type, is an error.
Result<ir::Attrs> match_attrs(const ir::OpDef& op, ir::Attrs attrs);

}  // namespace tw::onnx
