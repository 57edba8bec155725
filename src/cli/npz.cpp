// npz.cpp: the part of the zip format that NumPy writes: a central directory at the end, entries
// stored or deflated, sizes beyond 4 GiB in a zip64 field.
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/memory.h"
#include "base/mmap.h"
#include "cli/npy.h"

namespace tw::cli {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kEntry = 0x02014b50, kLocal = 0x04034b50, kEnd64 = 0x06064b50;
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr uint64_t kInZip64 = 0xffffffff;

template <class T>
T load(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Entry {
  std::string name;
  uint16_t method = 0;  // 0 stored, 8 deflated
  uint64_t packed_bytes = 0, bytes = 0, local_offset = 0;
};

Error corrupt(std::string_view what) {
  return error(Code::kCorrupt, "the .npz is damaged: ", what);
}

/// Sizes that do not fit 32 bits stand in extra field 1, in this order, only those that do not fit.
void read_zip64(std::span<const std::byte> extra, Entry& entry) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const auto id = load<uint16_t>(extra, at);
    const size_t size = load<uint16_t>(extra, at + 2);
    size_t field = at + 4;
    at = field + size;
    if (id != 1 || at > extra.size()) continue;
    for (uint64_t* value : {&entry.bytes, &entry.packed_bytes, &entry.local_offset})
      if (*value == kInZip64 && field + 8 <= at) {
        *value = load<uint64_t>(extra, field);
        field += 8;
      }
  }
}

struct Directory {
  uint64_t offset = 0, n_entries = 0;
};

Result<Directory> find_directory(std::span<const std::byte> file) {
  if (file.size() < kEndBytes) return error(Code::kCorrupt, "it does not open as a .npz");
  const size_t first = file.size() - std::min<size_t>(file.size(), kEndBytes + 65535);
  for (size_t at = file.size() - kEndBytes + 1; at-- > first;) {
    if (load<uint32_t>(file, at) != kEnd) continue;
    Directory directory{load<uint32_t>(file, at + 16), load<uint16_t>(file, at + 10)};
    constexpr size_t kLocatorBytes = 20;
    if (directory.offset != kInZip64 || at < kLocatorBytes) return directory;
    const auto end64 = load<uint64_t>(file, at - kLocatorBytes + 8);
    if (end64 > file.size() || file.size() - end64 < 56 || load<uint32_t>(file, end64) != kEnd64)
      return corrupt("its zip64 end is missing");
    return Directory{load<uint64_t>(file, end64 + 48), load<uint64_t>(file, end64 + 32)};
  }
  return error(Code::kCorrupt, "it does not end as a .npz");
}

Result<std::vector<Entry>> read_directory(std::span<const std::byte> file) {
  const Directory directory = TRY(find_directory(file));
  std::vector<Entry> entries;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.n_entries; ++i) {
    if (at > file.size() || file.size() - at < kEntryBytes || load<uint32_t>(file, at) != kEntry)
      return corrupt("its directory is cut short");
    const size_t name = load<uint16_t>(file, at + 28), extra = load<uint16_t>(file, at + 30),
                 comment = load<uint16_t>(file, at + 32);
    if (file.size() - at < kEntryBytes + name + extra + comment)
      return corrupt("its directory is cut short");
    Entry entry;
    entry.name.assign(reinterpret_cast<const char*>(file.data() + at + kEntryBytes), name);
    entry.method = load<uint16_t>(file, at + 10);
    entry.packed_bytes = load<uint32_t>(file, at + 20);
    entry.bytes = load<uint32_t>(file, at + 24);
    entry.local_offset = load<uint32_t>(file, at + 42);
    read_zip64(file.subspan(at + kEntryBytes + name, extra), entry);
    entries.push_back(std::move(entry));
    at += kEntryBytes + name + extra + comment;
  }
  return entries;
}

/// Exactly `bytes` bytes, piece by piece: zlib counts 32 bits.
Result<std::vector<std::byte>> inflate_bytes(std::span<const std::byte> packed, uint64_t bytes) {
  constexpr uint64_t kLargestRatio =
      1032;  // of deflate: a claim beyond it is no reason to allocate
  if (bytes / kLargestRatio > packed.size())
    return corrupt("an array claims more bytes than it can hold");
  TRY(check_memory(static_cast<int64_t>(bytes)));
  std::vector<std::byte> out(bytes);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return error(Code::kOutOfMemory, "no memory to inflate");
  size_t in_at = 0, out_at = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    constexpr size_t kPiece = size_t{1} << 30;
    const auto in_piece = static_cast<uInt>(std::min(kPiece, packed.size() - in_at));
    const auto out_piece = static_cast<uInt>(std::min(kPiece, out.size() - out_at));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in_at));
    stream.avail_in = in_piece;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + out_at);
    stream.avail_out = out_piece;
    state = inflate(&stream, Z_NO_FLUSH);
    in_at += in_piece - stream.avail_in;
    out_at += out_piece - stream.avail_out;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || out_at != out.size())
    return corrupt("an array does not inflate to its size");
  return out;
}

Result<Tensor> read_entry(std::span<const std::byte> file, const Entry& entry) {
  if (entry.local_offset > file.size() || file.size() - entry.local_offset < kLocalBytes ||
      load<uint32_t>(file, entry.local_offset) != kLocal)
    return corrupt("an array is not where the directory says");
  const uint64_t begin = entry.local_offset + kLocalBytes +
                         load<uint16_t>(file, entry.local_offset + 26) +
                         load<uint16_t>(file, entry.local_offset + 28);
  if (begin > file.size() || entry.packed_bytes > file.size() - begin)
    return corrupt("an array is cut short");
  const auto packed = file.subspan(begin, entry.packed_bytes);
  if (entry.method == 0) return parse_npy(packed);
  if (entry.method != 8)
    return error(Code::kUnsupported, "compression method ", entry.method,
                 ", expected 0 (stored) or 8 (deflate)");
  const std::vector<std::byte> bytes = TRY(inflate_bytes(packed, entry.bytes));
  return parse_npy(bytes);
}

}  // namespace

Result<std::vector<std::pair<std::string, Tensor>>> read_npz(const std::string& path) {
  const auto file = TRY(MappedFile::open(path));
  const std::string place = cat("'", path, "'");
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const Entry& entry : TRY(read_directory(file->bytes()).in(place))) {
    Tensor tensor =
        TRY(read_entry(file->bytes(), entry).in(cat(place, ", array '", entry.name, "'")));
    std::string name = entry.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.emplace_back(std::move(name), std::move(tensor));
  }
  return arrays;
}

}  // namespace tw::cli
