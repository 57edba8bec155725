// atomic_file.h: writes a file so that a reader sees the old one or the new one whole, whatever
// fails in between.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace tw {

/// Bytes go to a temporary neighbour of `path`; commit() makes them durable and renames. Without
/// commit() the destructor removes the temporary and `path` stays as it was. Errors name the path
/// and what the system said.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Result<void> write(std::span<const std::byte> bytes);
  Result<void> commit();
  int64_t bytes_written() const { return written_; }

 private:
  AtomicFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  std::string path_, temporary_;
  int fd_ = -1;
  int64_t written_ = 0;
};

}  // namespace tw
