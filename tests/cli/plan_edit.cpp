#include "plan_edit.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

#include "base/check.h"

namespace tw::cli_test {
namespace {

// Where the numbers stand in the header (docs/plan-format.md), and its size.
constexpr size_t kSections = 12, kDataBegin = 24, kChunks = 32, kTableHash = 40, kHeaderHash = 48,
                 kHeaderBytes = 56, kSectionBytes = 40, kChunkBytes = size_t{4} << 20;

template <class T>
T number_at(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// Puts the hash of bytes [begin, end) at `at`.
void put_hash(std::string& bytes, size_t at, size_t begin, size_t end) {
  const uint64_t hash = XXH3_64bits(bytes.data() + begin, end - begin);
  std::memcpy(bytes.data() + at, &hash, sizeof hash);
}

}  // namespace

void edit_plan(const std::string& from, const std::string& to, void (*edit)(plan::Plan&)) {
  auto read = plan::read_plan(from);
  CHECK(read.ok(), "the plan is good before it is edited");
  plan::Plan plan = std::move(read).take();
  edit(plan);
  CHECK(plan::write_plan(plan, to).ok(), "the test's folder is writable");
}

std::string mend_checksums(std::string bytes) {
  const auto data_begin = static_cast<size_t>(number_at<uint64_t>(bytes, kDataBegin));
  const auto n_chunks = static_cast<size_t>(number_at<uint64_t>(bytes, kChunks));
  const size_t checksums = kHeaderBytes + number_at<uint32_t>(bytes, kSections) * kSectionBytes;
  for (size_t i = 0; i < n_chunks; ++i) {
    const size_t begin = data_begin + i * kChunkBytes;
    put_hash(bytes, checksums + i * sizeof(uint64_t), begin,
             std::min(begin + kChunkBytes, bytes.size()));
  }
  put_hash(bytes, kTableHash, kHeaderBytes, data_begin);
  std::fill_n(bytes.begin() + kHeaderHash, sizeof(uint64_t), '\0');
  put_hash(bytes, kHeaderHash, 0, kHeaderBytes);
  return bytes;
}

}  // namespace tw::cli_test
