// The plan file: a header, a table of sections, a checksum for every 4 MiB behind them, then the
// sections. Everything is found by offsets from the table, so the file is mapped and used in place.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/atomic_file.h"
#include "base/mmap.h"
#include "plan/check.h"
#include "plan/serialize.h"

namespace tw::plan {
namespace {

constexpr std::array<char, 8> kMagic = {'T', 'W', 'P', 'L', 'A', 'N', '\x1a', '\n'};
constexpr uint64_t kChunkBytes = uint64_t{4} << 20;
constexpr uint64_t kPage = 4096;

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kFormatVersion;
  uint32_t n_sections = 0;
  uint64_t file_bytes = 0;
  uint64_t data_begin = 0;   // of the first section; a multiple of 4096
  uint64_t n_chunks = 0;     // checksums, of the bytes from data_begin on
  uint64_t table_hash = 0;   // of everything between this header and the data
  uint64_t header_hash = 0;  // of this header with this field 0
};
static_assert(sizeof(Header) == 56);

struct Section {
  std::array<char, 24> name = {};
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

uint64_t hash(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}

uint64_t hash_of(Header header) {
  header.header_hash = 0;
  return hash(bytes_of(header));
}

/// "54 57 50": bytes for a sentence.
std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (!text.empty()) text += ' ';
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text.empty() ? "nothing" : text;
}

Result<void> check_hash(std::string_view place, uint64_t stored, uint64_t found) {
  if (found == stored) return {};
  return error(Code::kCorrupt, place, ": found a checksum of ", found, ", expected ", stored);
}

uint64_t round_up(uint64_t value) { return (value + kPage - 1) / kPage * kPage; }

std::span<const std::byte> chunk(std::span<const std::byte> data, size_t i) {
  const size_t begin = i * kChunkBytes;
  return data.subspan(begin, std::min<size_t>(kChunkBytes, data.size() - begin));
}

// Memory is what a checksum waits for; more threads than this gain nothing.
constexpr size_t kMaxThreads = 8;

/// The first chunk whose checksum is wrong, or nothing. Threads take the next chunk when they are
/// done with one, so that a thread that starts late or is held up does not hold up the rest.
std::optional<size_t> find_bad_chunk(std::span<const std::byte> data,
                                     std::span<const uint64_t> expected) {
  std::atomic<size_t> next{0}, bad{expected.size()};
  const auto check = [&] {
    for (size_t i = next++; i < expected.size(); i = next++) {
      if (hash(chunk(data, i)) == expected[i]) continue;
      size_t first = bad.load();
      while (i < first && !bad.compare_exchange_weak(first, i)) {
      }
    }
  };
  {
    const size_t n_threads =
        std::min({size_t{std::thread::hardware_concurrency()}, kMaxThreads, expected.size() / 2});
    std::vector<std::jthread> others;
    for (size_t i = 1; i < n_threads; ++i) others.emplace_back(check);
    check();
  }
  return bad < expected.size() ? std::optional(bad.load()) : std::nullopt;
}

/// Header and tables of a mapped plan, checked.
struct Opened {
  std::shared_ptr<const MappedFile> file;
  Header header;
  std::vector<Section> sections;

  std::span<const std::byte> find(std::string_view name) const {
    for (const Section& section : sections)
      if (std::string_view(section.name.data()) == name)
        return file->bytes().subspan(section.offset, section.bytes);
    return {};
  }
};

/// The header, checked against the file.
Result<Header> read_header(std::span<const std::byte> bytes) {
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), kMagic.size()));
  if (begin != std::string_view(kMagic.data(), kMagic.size()))
    return error(Code::kCorrupt, "is not a plan: found ", hex(begin), " at its begin, expected ",
                 hex({kMagic.data(), kMagic.size()}));
  if (bytes.size() < sizeof(Header))
    return error(Code::kCorrupt, "has ", bytes.size(), " bytes, expected at least ",
                 sizeof(Header));
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kFormatVersion)
    return error(Code::kIncompatible, "is a plan of format version ", header.version, ", expected ",
                 kFormatVersion);
  TRY(check_hash("the header", header.header_hash, hash_of(header)));
  if (header.file_bytes != bytes.size())
    return error(Code::kCorrupt, "has ", bytes.size(), " bytes, expected ", header.file_bytes);
  const uint64_t table_bytes =
      header.n_sections * sizeof(Section) + header.n_chunks * sizeof(uint64_t);
  if (header.n_sections > 64 || header.n_chunks > bytes.size() ||
      header.data_begin > bytes.size() || sizeof(Header) + table_bytes > header.data_begin)
    return error(Code::kCorrupt, "the table of ", header.n_sections, " sections and ",
                 header.n_chunks, " checksums does not fit before byte ", header.data_begin, " of ",
                 bytes.size());
  return header;
}

Result<Opened> open_plan(const std::string& path) {
  Opened opened;
  opened.file = TRY(MappedFile::open(path));
  const std::span<const std::byte> bytes = opened.file->bytes();
  opened.header = TRY(read_header(bytes));
  const Header& header = opened.header;
  const auto table = bytes.subspan(sizeof(Header), header.data_begin - sizeof(Header));
  TRY(check_hash("the section table", header.table_hash, hash(table)));
  opened.sections.resize(header.n_sections);
  const auto sections = std::as_writable_bytes(std::span(opened.sections));
  std::copy_n(table.begin(), sections.size(), sections.begin());
  for (Section& section : opened.sections) {
    section.name.back() = '\0';
    if (section.offset < header.data_begin || section.offset > bytes.size() ||
        section.bytes > bytes.size() - section.offset || section.offset % kPage != 0)
      return error(Code::kCorrupt, "section '", section.name.data(), "' has ", section.bytes,
                   " bytes at ", section.offset, ", expected them on a page between ",
                   header.data_begin, " and ", bytes.size());
  }
  const auto data = bytes.subspan(header.data_begin);
  const uint64_t n_chunks = (data.size() + kChunkBytes - 1) / kChunkBytes;
  if (header.n_chunks != n_chunks)
    return error(Code::kCorrupt, "has ", header.n_chunks, " checksums for ", data.size(),
                 " bytes, expected ", n_chunks);
  std::vector<uint64_t> expected(header.n_chunks);
  const auto sums = std::as_writable_bytes(std::span(expected));
  std::copy_n(table.begin() + static_cast<long>(sections.size()), sums.size(), sums.begin());
  if (const auto bad = find_bad_chunk(data, expected)) {
    const uint64_t begin = header.data_begin + *bad * kChunkBytes;
    const std::string place =
        cat("bytes ", begin, " to ", std::min<uint64_t>(begin + kChunkBytes, bytes.size()));
    TRY(check_hash(place, expected[*bad], hash(chunk(data, *bad))));
  }
  return opened;
}

/// A section as it is written.
struct Part {
  std::string_view name;
  std::span<const std::byte> bytes;
};

/// Sizes and places; the hashes follow.
Header header_of(std::span<const Part> parts) {
  Header header;
  header.n_sections = static_cast<uint32_t>(parts.size());
  // The number of checksums moves the begin of the data only in whole pages, which does not change
  // the number of checksums.
  uint64_t data_bytes = 0;
  for (const Part& part : parts) data_bytes = round_up(data_bytes) + part.bytes.size();
  header.n_chunks = (data_bytes + kChunkBytes - 1) / kChunkBytes;
  header.data_begin = round_up(sizeof(Header) + header.n_sections * sizeof(Section) +
                               header.n_chunks * sizeof(uint64_t));
  header.file_bytes = header.data_begin + data_bytes;
  return header;
}

void put_sections(ByteWriter& table, std::span<const Part> parts, uint64_t at) {
  for (const Part& part : parts) {
    at = round_up(at);
    Section section;
    std::copy(part.name.begin(), part.name.end(), section.name.begin());
    section.offset = at;
    section.bytes = part.bytes.size();
    table.put(section);
    at += part.bytes.size();
  }
}

/// The data in order; the padding between sections is zero.
template <class Emit>
Result<void> for_each_piece(std::span<const Part> parts, const Emit& emit) {
  static constexpr std::array<std::byte, kPage> kZeros{};
  uint64_t position = 0;
  for (const Part& part : parts) {
    TRY(emit(std::span<const std::byte>(kZeros).first(round_up(position) - position)));
    TRY(emit(part.bytes));
    position = round_up(position) + part.bytes.size();
  }
  return {};
}

/// A checksum each kChunkBytes of what is added, put into a table.
class ChunkSums {
 public:
  explicit ChunkSums(ByteWriter& table) : table_(table) { XXH3_64bits_reset(&state_); }

  void add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const size_t n = std::min<size_t>(bytes.size(), kChunkBytes - in_chunk_);
      XXH3_64bits_update(&state_, bytes.data(), n);
      bytes = bytes.subspan(n);
      in_chunk_ += n;
      if (in_chunk_ == kChunkBytes) finish();
    }
  }
  void finish() {
    if (in_chunk_ == 0) return;
    table_.put(static_cast<uint64_t>(XXH3_64bits_digest(&state_)));
    XXH3_64bits_reset(&state_);
    in_chunk_ = 0;
  }

 private:
  ByteWriter& table_;
  XXH3_state_t state_;
  uint64_t in_chunk_ = 0;
};

}  // namespace

std::string_view contract_value(const Contract& contract, std::string_view key) {
  for (const auto& [name, value] : contract)
    if (name == key) return value;
  return "";
}

Result<int64_t> write_plan(const Plan& plan, const std::string& path) {
  ByteWriter contract, procedure, hsd, names, kernels;
  put_contract(contract, plan.contract);
  put_procedure(procedure, plan.main);
  put_hsd(hsd, plan.programs);
  put_names(names, plan);
  put_kernels(kernels, plan.kernels);
  const std::array<Part, 6> parts = {{{"contract", contract.bytes()},
                                      {"procedure", procedure.bytes()},
                                      {"hsd", hsd.bytes()},
                                      {"names", names.bytes()},
                                      {"kernels", kernels.bytes()},
                                      {"weights", plan.weights}}};
  Header header = header_of(parts);
  ByteWriter table;
  put_sections(table, parts, header.data_begin);
  // Checksums need the data in order: one pass that hashes, one that writes.
  ChunkSums sums(table);
  TRY(for_each_piece(parts, [&](std::span<const std::byte> bytes) -> Result<void> {
    sums.add(bytes);
    return {};
  }));
  sums.finish();
  table.pad_to(header.data_begin - sizeof(Header));
  header.table_hash = hash(table.bytes());
  header.header_hash = hash_of(header);

  AtomicFile file = TRY(AtomicFile::create(path));
  TRY(file.write(bytes_of(header)));
  TRY(file.write(table.bytes()));
  TRY(for_each_piece(parts, [&](std::span<const std::byte> bytes) { return file.write(bytes); }));
  TRY(file.commit());
  return static_cast<int64_t>(header.file_bytes);
}

Result<Plan> read_plan(const std::string& path, bool verify_programs) {
  const auto place = cat("plan '", path, "'");
  const Opened opened = TRY(open_plan(path).in(place));
  Plan plan;
  const auto section = [&](std::string_view name) { return ByteReader(opened.find(name), name); };
  ByteReader contract = section("contract");
  plan.contract = TRY(get_contract(contract).in(place));
  ByteReader hsd = section("hsd");
  plan.programs = TRY(get_hsd(hsd).in("hsd").in(place));
  ByteReader procedure = section("procedure");
  plan.main = TRY(get_procedure(procedure).in("procedure").in(place));
  if (!opened.find("names").empty()) {
    ByteReader names = section("names");
    TRY(get_names(names, plan).in("names").in(place));
  }
  if (!opened.find("kernels").empty()) {
    ByteReader kernels = section("kernels");
    plan.kernels = TRY(get_kernels(kernels).in("kernels").in(place));
  }
  plan.weights = opened.find("weights");
  plan.weights_owner = opened.file;
  TRY(check_plan(plan, verify_programs).in(place));
  return plan;
}

Result<std::vector<SectionSize>> plan_sections(const std::string& path) {
  const Opened opened = TRY(open_plan(path).in(cat("plan '", path, "'")));
  std::vector<SectionSize> sizes;
  for (const Section& section : opened.sections)
    sizes.push_back({section.name.data(), static_cast<int64_t>(section.bytes)});
  return sizes;
}

bool looks_like_plan(const std::string& path) {
  const auto file = MappedFile::open(path);
  return file.ok() && file.value()->size() >= static_cast<int64_t>(kMagic.size()) &&
         std::memcmp(file.value()->data(), kMagic.data(), kMagic.size()) == 0;
}

}  // namespace tw::plan
