#include "frontends/onnx/external_data.h"

#include <charconv>
#include <filesystem>
#include <system_error>

#include "frontends/onnx/raw_model.h"

namespace tw::onnx {
namespace {

namespace fs = std::filesystem;

Result<int64_t> parse_size(std::string_view key, std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || stop != end || value < 0)
    return error(Code::kInvalidModel, "external data: ", key, " is ", in_quotes(text),
                 ", expected a number of bytes");
  return value;
}

/// The location as a path below the folder, judged by its text alone.
Result<fs::path> relative_path(const std::string& location) {
  if (location.empty()) return error(Code::kInvalidModel, "external data: no location");
  if (location.find('\0') != std::string::npos)
    return error(Code::kInvalidModel, "external data: location ", in_quotes(location),
                 " has a zero byte");
  const fs::path path(location);
  const std::string refusal = ", expected a file in the model's folder";
  if (path.is_absolute() || location.front() == '\\')
    return error(Code::kInvalidModel, "external data: location ", in_quotes(location),
                 " is absolute", refusal);
  for (const fs::path& part : path)
    if (part == "..")
      return error(Code::kInvalidModel, "external data: location ", in_quotes(location),
                   " leaves the folder", refusal);
  return path;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [rest, _] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return rest == folder.end();
}

}  // namespace

Result<ExternalLocation> parse_external_location(
    std::span<const std::pair<std::string, std::string>> entries) {
  ExternalLocation where;
  for (const auto& [key, value] : entries) {
    if (key == "location") where.location = value;
    if (key == "offset") where.offset = TRY(parse_size(key, value));
    if (key == "length") where.length = TRY(parse_size(key, value));
  }
  return where;
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(const std::string& location) {
  const fs::path relative = TRY(relative_path(location));
  if (folder_.empty())
    return error(Code::kUnsupported, "external data: file ", in_quotes(location),
                 " is wanted, but the model came as bytes without a folder");
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;

  std::error_code failure;
  const fs::path folder = fs::canonical(folder_, failure);
  if (failure)
    return error(Code::kIo, "external data: folder '", folder_, "': ", failure.message());
  const fs::path real = fs::canonical(folder / relative, failure);
  if (failure)
    return error(Code::kNotFound, "external data: file ", in_quotes(location),
                 " of the model's folder: ", failure.message());
  if (!is_below(real, folder))
    return error(Code::kInvalidModel, "external data: location ", in_quotes(location),
                 " is a link out of the folder, expected a file in the model's folder");
  auto file = TRY(MappedFile::open(real.string()).in("external data"));
  files_.emplace(location, file);
  return file;
}

Result<ExternalFiles::Bytes> ExternalFiles::read(const ExternalLocation& where, int64_t size) {
  if (where.length && *where.length != size)
    return error(Code::kInvalidModel, "external data: length is ", *where.length,
                 " bytes, expected ", size);
  auto file = TRY(open(where.location));
  if (where.offset > file->size() || size > file->size() - where.offset)
    return error(Code::kCorrupt, "external data: file ", in_quotes(where.location), " has ",
                 file->size(), " bytes, expected ", size, " from offset ", where.offset, " on");
  return Bytes{file->data() + where.offset, std::move(file)};
}

}  // namespace tw::onnx
