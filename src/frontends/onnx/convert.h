// convert.h: from a RawModel without local functions to a graph: one ONNX node after the other,
// each through the op that imports it.
#pragma once

#include "base/result.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/raw_model.h"

namespace tw::onnx {

Result<ir::Graph> convert_model(const RawModel& model, const ImportOptions& options);

}  // namespace tw::onnx
