// plan_bytes.h: plans from and to bytes in memory, and the checksums of damaged ones put right, so
// that the damage reaches what lies behind them.
#pragma once

#include "driver.h"
#include "plan/plan.h"

namespace tw::fuzz {

/// A file in memory that functions which take a path can open; it goes with the object.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes = {});
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return cat("/proc/self/fd/", file_); }

 private:
  int file_;
};

Bytes bytes_of(const plan::Plan& plan);
Result<plan::Plan> plan_of(std::string_view bytes, bool verify_programs);

/// The same bytes with every checksum and the header's sizes as a reader expects them; bytes that
/// have no room for a header stay as they are.
Bytes with_checksums(Bytes bytes);

}  // namespace tw::fuzz
