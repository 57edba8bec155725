#include "plan_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::fuzz {
namespace {

// plan/file.cpp's header, by offset; a test of this folder's seeds fails when they move.
constexpr size_t kSections = 12, kFileBytes = 16, kDataBegin = 24, kChunks = 32, kTableHash = 40,
                 kHeaderHash = 48, kHeaderBytes = 56;
constexpr size_t kSectionBytes = 40;
constexpr size_t kChunkBytes = size_t{4} << 20;

template <class T>
T number_at(const Bytes& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void put(Bytes& bytes, size_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

uint64_t hash(const Bytes& bytes, size_t begin, size_t end) {
  return XXH3_64bits(bytes.data() + begin, end - begin);
}

/// write_plan waits until a disk has the bytes, thousands of times here.
std::filesystem::path folder_in_memory() {
  const std::filesystem::path shm = "/dev/shm";
  return std::filesystem::exists(shm) ? shm : std::filesystem::temp_directory_path();
}

}  // namespace

MemoryFile::MemoryFile(std::string_view bytes) : file_(memfd_create("plan", 0)) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written <= 0) fail("no memory for a file");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

MemoryFile::~MemoryFile() { close(file_); }

Bytes bytes_of(const plan::Plan& plan) {
  // write_plan renames a finished file into place, so it needs a folder.
  static const std::string path =
      (folder_in_memory() / cat("plan_fuzz_", getpid(), ".plan")).string();
  const auto written = plan::write_plan(plan, path);
  if (!written.ok()) fail(cat("cannot write a plan: ", written.error().message));
  std::ifstream file(path, std::ios::binary);
  Bytes bytes(std::istreambuf_iterator<char>(file), {});
  std::remove(path.c_str());
  return bytes;
}

Result<plan::Plan> plan_of(std::string_view bytes, bool verify_programs) {
  const MemoryFile file(bytes);
  return plan::read_plan(file.path(), verify_programs);
}

Bytes with_checksums(Bytes bytes) {
  if (bytes.size() < kHeaderBytes) return bytes;
  const auto n_sections = number_at<uint32_t>(bytes, kSections);
  const auto begin = number_at<uint64_t>(bytes, kDataBegin);
  if (n_sections > 64 || begin < kHeaderBytes || begin > bytes.size()) return bytes;
  const size_t n_chunks = (bytes.size() - begin + kChunkBytes - 1) / kChunkBytes;
  const size_t hashes = kHeaderBytes + n_sections * kSectionBytes;
  if (hashes + n_chunks * sizeof(uint64_t) > begin) return bytes;
  put(bytes, kFileBytes, bytes.size());
  put(bytes, kChunks, n_chunks);
  for (size_t i = 0; i < n_chunks; ++i) {
    const size_t from = begin + i * kChunkBytes;
    put(bytes, hashes + i * sizeof(uint64_t),
        hash(bytes, from, std::min(from + kChunkBytes, bytes.size())));
  }
  put(bytes, kTableHash, hash(bytes, kHeaderBytes, begin));
  put(bytes, kHeaderHash, 0);
  put(bytes, kHeaderHash, hash(bytes, 0, kHeaderBytes));
  return bytes;
}

}  // namespace tw::fuzz
