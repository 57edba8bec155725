// decode.h: from the bytes of an ONNX file to a RawModel. The only code that knows protobuf.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "frontends/onnx/external_data.h"
#include "frontends/onnx/raw_model.h"

namespace tw::onnx {

/// Reads any bytes; what is no ONNX model is an error that says what it looks like. Big tensors
/// point into the parsed message or into mapped files, which live as long as any of them. `bytes`
/// are not needed afterwards.
Result<RawModel> decode_model(std::span<const std::byte> bytes, ExternalFiles& files);

}  // namespace tw::onnx
