#include "temp_files.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/check.h"

namespace tw::cli_test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tilewright-test-XXXXXX").string();
  CHECK(::mkdtemp(name.data()) != nullptr, "the folder of temporaries is writable");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TempFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_all(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string random_bytes(size_t n, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::string bytes;
  for (size_t i = 0; i < n; ++i) bytes += static_cast<char>(generator());
  return bytes;
}

}  // namespace tw::cli_test
