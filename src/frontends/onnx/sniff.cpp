#include "frontends/onnx/sniff.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tw::onnx {
namespace {

using std::string_view_literals::operator""sv;

struct Magic {
  size_t offset;
  std::string_view bytes;
  std::string_view kind;
};

constexpr Magic kMagics[] = {
    {0, "GGUF"sv, "a GGUF file"},
    {0, "PK\x03\x04"sv, "a zip archive (PyTorch checkpoints and .npz files are such)"},
    {0, "\x89HDF"sv, "an HDF5 file (Keras writes such)"},
    {4, "TFL3"sv, "a TensorFlow Lite file"},
    {4, "ORTM"sv, "an ONNX Runtime .ort file"},
    {0, "version https://git-lfs"sv, "a Git LFS pointer, not the file itself"},
    {0, "\x93NUMPY"sv, "a NumPy .npy file"},
    {0, "\x1f\x8b"sv, "a gzip file"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd file"},
    {0, "\x80\x02"sv, "a Python pickle (old PyTorch checkpoints are such)"},
    {0, "\177ELF"sv, "a program or shared library"},
    {0, "\x89PNG"sv, "a PNG image"},
    {0, "\xff\xd8\xff"sv, "a JPEG image"},
    {0, "<!DOCTYPE"sv, "an HTML or XML page"},
    {0, "<!doctype"sv, "an HTML or XML page"},
    {0, "<html"sv, "an HTML or XML page"},
    {0, "<?xml"sv, "an HTML or XML page"},
};

/// Eight bytes of header length, then a JSON header of that length.
bool is_safetensors(std::string_view text) {
  uint64_t length = 0;
  if (text.size() < 10) return false;
  std::memcpy(&length, text.data(), sizeof length);
  return length >= 2 && length <= text.size() - 8 && text[8] == '{';
}

/// No control characters, and at most a quarter beyond ASCII.
bool is_text(std::string_view text) {
  size_t n_high = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') return false;
    if (byte >= 0x80) ++n_high;
  }
  return n_high <= text.size() / 4;
}

}  // namespace

std::string looks_like(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_safetensors(text)) return "a safetensors file";
  for (const Magic& magic : kMagics)
    if (text.size() > magic.offset && text.substr(magic.offset).starts_with(magic.bytes))
      return std::string(magic.kind);
  const std::string_view head = text.substr(0, 4096);
  if (head.empty()) return {};
  if (is_text(head)) return head[0] == '{' || head[0] == '[' ? "a JSON file" : "a text file";
  const bool zeros = std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; });
  return zeros ? "zero bytes" : "";
}

}  // namespace tw::onnx
