#include "base/memory.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/check.h"

namespace tw {
namespace {

constexpr size_t kAlignment = 64;
/// Below, asking costs more than the memory, and a system that cannot give it is lost anyway.
constexpr int64_t kLookFrom = int64_t{64} << 20;

std::string found_text() {
  const auto found = available_memory_bytes();
  return found ? cat(*found) : "less";
}

}  // namespace

std::optional<int64_t> available_memory_bytes() {
  constexpr std::string_view kField = "MemAvailable:";
  std::ifstream table("/proc/meminfo");
  for (std::string line; std::getline(table, line);)
    if (line.starts_with(kField))
      return 1024 * std::strtoll(line.c_str() + kField.size(), nullptr, 10);
  return std::nullopt;
}

Result<void> check_memory(int64_t bytes) {
  if (bytes < kLookFrom) return {};
  const auto found = available_memory_bytes();
  if (!found || bytes <= *found) return {};
  return error(Code::kOutOfMemory, "want ", bytes, " bytes of memory, found ", *found);
}

Result<void> out_of_memory(int64_t bytes) {
  return error(Code::kOutOfMemory, "want ", bytes, " bytes of memory, found ", found_text(),
               " and a limit that the system sets");
}

Result<std::shared_ptr<std::byte>> try_alloc(int64_t bytes) {
  CHECK(bytes >= 0, "sizes are checked before memory is asked for");
  TRY(check_memory(bytes));
  const size_t padded = (static_cast<size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, padded);
  if (memory == nullptr) return out_of_memory(bytes).error();
  std::memset(memory, 0, padded);
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), std::free);
}

}  // namespace tw
