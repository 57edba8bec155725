// mmap.h: a file's bytes in memory without reading them: models, weights and plans are mapped, not
// copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace tw {

/// A read-only mapping of one regular file. The pages stay valid as long as the object lives, also
/// when the file is renamed or unlinked; a file that someone truncates meanwhile makes reads of the
/// lost pages fatal (SIGBUS), so writers replace files instead of changing them. Immutable, safe to
/// share between threads.
class MappedFile {
 public:
  enum class Advice {
    kSequential,
    kRandom,
    kWillNeed,
    kDontNeed
  };

  /// Fails with kNotFound when there is no such file, kIo when it is not a regular file or cannot
  /// be read.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// All bytes of the file; an empty file has none.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::byte* data() const { return data_; }
  int64_t size() const { return static_cast<int64_t>(size_); }
  const std::string& path() const { return path_; }

  /// A hint about the coming use of `size` bytes from `offset` on, clipped to the file. Never
  /// fails.
  void advise(Advice advice, int64_t offset, int64_t size) const;

 private:
  MappedFile(std::string path, const std::byte* data, size_t size)
      : path_(std::move(path)), data_(data), size_(size) {}

  std::string path_;
  const std::byte* data_;
  size_t size_;
};

}  // namespace tw
