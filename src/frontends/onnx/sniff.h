// sniff.h: what a file that is no ONNX model looks like, for the error message.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tw::onnx {

/// "a GGUF file", "a text file" ...; empty when nothing is recognised.
std::string looks_like(std::span<const std::byte> bytes);

}  // namespace tw::onnx
