#include "base/mmap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory.h"

namespace tw {
namespace {

/// Closes a file descriptor at the end of its scope; a mapping does not need it any longer.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Error system_error(const std::string& path, std::string_view what) {
  const int number = errno;
  const Code code = number == ENOENT || number == ENOTDIR ? Code::kNotFound : Code::kIo;
  return error(code, "'", path, "': ", what, ": ", std::strerror(number));
}

int to_madvise(MappedFile::Advice advice) {
  switch (advice) {
    case MappedFile::Advice::kSequential:
      return MADV_SEQUENTIAL;
    case MappedFile::Advice::kRandom:
      return MADV_RANDOM;
    case MappedFile::Advice::kWillNeed:
      return MADV_WILLNEED;
    case MappedFile::Advice::kDontNeed:
      return MADV_DONTNEED;
  }
  return MADV_NORMAL;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait; it means nothing for a regular
  // file.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return system_error(path, "cannot open");
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_error(path, "cannot read its size");
  if (!S_ISREG(status.st_mode))
    return tw::error(Code::kIo, "'", path, "' is ", kind_of(status.st_mode), ", expected a file");
  const auto size = static_cast<size_t>(status.st_size);
  const std::byte* data = nullptr;
  if (size > 0) {
    void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED && errno == ENOMEM)
      return out_of_memory(status.st_size).in(cat("'", path, "': cannot map")).error();
    if (mapped == MAP_FAILED) return system_error(path, "cannot map");
    data = static_cast<const std::byte*>(mapped);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, data, size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::advise(Advice advice, int64_t offset, int64_t size) const {
  const int64_t begin = std::clamp<int64_t>(offset, 0, this->size());
  const int64_t end = begin + std::clamp<int64_t>(size, 0, this->size() - begin);
  if (begin == end) return;
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  const int64_t first = begin / page * page;  // madvise wants whole pages
  ::madvise(const_cast<std::byte*>(data_) + first, static_cast<size_t>(end - first),
            to_madvise(advice));
}

}  // namespace tw
