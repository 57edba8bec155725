// external_data.h: tensors that lie in files beside the model. A model is untrusted: it may name
// only files in its own folder, by relative paths that do not climb out, also not through symbolic
// links.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/mmap.h"
#include "base/result.h"

namespace tw::onnx {

/// Where a tensor's bytes are, as the model's external_data entries say it.
struct ExternalLocation {
  std::string location;  // path relative to the model's folder
  int64_t offset = 0;
  std::optional<int64_t> length;
};

/// Reads the entries "location", "offset" and "length"; others ("checksum" ...) are not needed.
Result<ExternalLocation> parse_external_location(
    std::span<const std::pair<std::string, std::string>> entries);

/// The files of one model's folder, each mapped once, on first use.
class ExternalFiles {
 public:
  /// An empty folder refuses every file: a model that came as bytes has no folder.
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Bytes {
    const std::byte* data;
    std::shared_ptr<const MappedFile> owner;
  };
  /// `size` bytes of the file. Fails when the path is not allowed, the file is missing or too
  /// short, or when the model gives another length than `size`.
  Result<Bytes> read(const ExternalLocation& where, int64_t size);

 private:
  Result<std::shared_ptr<const MappedFile>> open(const std::string& location);

  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace tw::onnx
