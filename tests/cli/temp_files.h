// temp_files.h: folders that go with their object, and whole files read and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw::cli_test {

/// A new folder that goes with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Names of all files in it, sorted.
  std::vector<std::string> names() const;

 private:
  std::string path_;
};

std::string read_all(const std::string& path);
void write_all(const std::string& path, const std::string& bytes);
/// `n` bytes, equal for equal seeds.
std::string random_bytes(size_t n, uint64_t seed);

}  // namespace tw::cli_test
