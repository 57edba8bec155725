// tensor_proto.cpp: reads the few fields of ONNX's TensorProto from protobuf's wire format; the
// importer's own code turns them into a tensor.
#include "cli/tensor_proto.h"

#include <filesystem>
#include <memory>

#include "base/mmap.h"
#include "frontends/onnx/tensor_data.h"

namespace tw::cli {
namespace {

Error corrupt(std::string_view what) {
  return error(Code::kCorrupt, "not a readable TensorProto: ", what);
}

/// A message of protobuf's wire format, field by field.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool done() const { return at_ == bytes_.size(); }

  Result<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (done()) return corrupt("it is cut short");
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return corrupt("a number is too long");
  }
  Result<std::span<const std::byte>> take(uint64_t n) {
    if (n > bytes_.size() - at_) return corrupt("it is cut short");
    const auto part = bytes_.subspan(at_, n);
    at_ += n;
    return part;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

/// What TensorFields points into.
struct Storage {
  std::vector<int64_t> dims, ints64;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int32_t> ints32;
  std::vector<uint64_t> uints64;
  std::string raw, name;
  int data_type = 0;
};

enum WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kFixed32 = 5
};

/// One occurrence of a repeated number field: packed (bytes) or alone.
template <class T>
Result<void> append_varints(WireReader& reader, uint64_t wire, std::vector<T>& out) {
  if (wire == kVarint) {
    out.push_back(static_cast<T>(TRY(reader.varint())));
    return {};
  }
  WireReader packed(TRY(reader.take(TRY(reader.varint()))));
  while (!packed.done()) out.push_back(static_cast<T>(TRY(packed.varint())));
  return {};
}

template <class T>
Result<void> append_fixed(WireReader& reader, uint64_t wire, std::vector<T>& out) {
  const auto bytes = TRY(reader.take(wire == kBytes ? TRY(reader.varint()) : sizeof(T)));
  if (bytes.size() % sizeof(T) != 0) return corrupt("a list of numbers is cut short");
  const size_t old = out.size();
  out.resize(old + bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data() + old, bytes.data(), bytes.size());
  return {};
}

Result<void> read_text(WireReader& reader, std::string& out) {
  const auto bytes = TRY(reader.take(TRY(reader.varint())));
  out.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {};
}

Result<void> skip(WireReader& reader, uint64_t wire) {
  switch (wire) {
    case kVarint:
      TRY(reader.varint());
      return {};
    case kFixed64:
      TRY(reader.take(8));
      return {};
    case kFixed32:
      TRY(reader.take(4));
      return {};
    case kBytes:
      TRY(reader.take(TRY(reader.varint())));
      return {};
    default:
      return corrupt("an unknown wire type");
  }
}

Result<void> read_field(WireReader& reader, Storage& storage) {
  const uint64_t tag = TRY(reader.varint());
  const uint64_t wire = tag & 7;
  const bool is_list = wire == kBytes;
  switch (tag >> 3) {
    case 1:
      if (is_list || wire == kVarint) return append_varints(reader, wire, storage.dims);
      break;
    case 2:
      if (wire == kVarint) {
        storage.data_type = static_cast<int>(TRY(reader.varint()));
        return {};
      }
      break;
    case 4:
      if (is_list || wire == kFixed32) return append_fixed(reader, wire, storage.floats);
      break;
    case 5:
      if (is_list || wire == kVarint) return append_varints(reader, wire, storage.ints32);
      break;
    case 7:
      if (is_list || wire == kVarint) return append_varints(reader, wire, storage.ints64);
      break;
    case 8:
      if (is_list) return read_text(reader, storage.name);
      break;
    case 9:
      if (is_list) return read_text(reader, storage.raw);
      break;
    case 10:
      if (is_list || wire == kFixed64) return append_fixed(reader, wire, storage.doubles);
      break;
    case 11:
      if (is_list || wire == kVarint) return append_varints(reader, wire, storage.uints64);
      break;
    case 14:
      return error(Code::kUnsupported, "its data is in another file");
    default:
      break;
  }
  return skip(reader, wire);
}

}  // namespace

Result<NamedTensor> parse_tensor_proto(std::span<const std::byte> bytes) {
  const auto storage = std::make_shared<Storage>();
  WireReader reader(bytes);
  while (!reader.done()) TRY(read_field(reader, *storage));
  onnx::TensorFields fields;
  fields.dims = storage->dims;
  fields.data_type = storage->data_type;
  fields.raw = storage->raw;
  fields.floats = storage->floats;
  fields.doubles = storage->doubles;
  fields.ints32 = storage->ints32;
  fields.ints64 = storage->ints64;
  fields.uints64 = storage->uints64;
  onnx::ExternalFiles no_files("");
  return NamedTensor{storage->name, TRY(onnx::make_tensor(fields, storage, no_files))};
}

Result<std::vector<NamedTensor>> read_test_data(const std::string& folder,
                                                std::string_view prefix) {
  std::vector<NamedTensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = cat(folder, "/", prefix, "_", i, ".pb");
    if (!std::filesystem::exists(path)) return tensors;
    const auto file = TRY(MappedFile::open(path));
    tensors.push_back(TRY(parse_tensor_proto(file->bytes()).in(cat("'", path, "'"))));
  }
}

bool is_test_data(const std::string& folder) {
  return std::filesystem::exists(cat(folder, "/input_0.pb"));
}

}  // namespace tw::cli
