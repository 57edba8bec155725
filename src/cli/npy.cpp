#include "cli/npy.h"

#include <algorithm>
#include <charconv>

#include "base/mmap.h"

namespace tw::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NumpyType {
  std::string_view text;
  DType dtype;
};
constexpr NumpyType kTypes[] = {{"<f4", DType::kF32}, {"<f8", DType::kF64}, {"<f2", DType::kF16},
                                {"|i1", DType::kI8},  {"<i2", DType::kI16}, {"<i4", DType::kI32},
                                {"<i8", DType::kI64}, {"|u1", DType::kU8},  {"<u2", DType::kU16},
                                {"<u4", DType::kU32}, {"<u8", DType::kU64}, {"|b1", DType::kBool}};

/// The text behind `'key':` in the header, up to where `end` begins.
Result<std::string_view> field(std::string_view header, std::string_view key,
                               std::string_view end) {
  const size_t at = header.find(cat("'", key, "'"));
  const size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  const size_t stop = colon == std::string_view::npos ? colon : header.find(end, colon);
  if (stop == std::string_view::npos)
    return error(Code::kCorrupt, "the header of the .npy has no '", key, "'");
  std::string_view value = header.substr(colon + 1, stop - colon - 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return value;
}

Result<Dims> parse_shape(std::string_view text) {
  Dims dims;
  for (size_t at = 0; at < text.size();) {
    if (text[at] < '0' || text[at] > '9') {
      ++at;
      continue;
    }
    int64_t dim = 0;
    const auto [end, failure] = std::from_chars(text.data() + at, text.data() + text.size(), dim);
    if (failure != std::errc()) return error(Code::kCorrupt, "a dim of the .npy is too large");
    if (dims.size() == kMaxRank)
      return error(Code::kUnsupported, "the .npy has more than ", kMaxRank, " dims");
    dims.push_back(dim);
    at = static_cast<size_t>(end - text.data());
  }
  return dims;
}

Result<DType> parse_type(std::string_view text) {
  std::string plain(text);
  if (plain.size() == 3 && plain[0] == '=') plain[0] = '<';
  for (const NumpyType& type : kTypes)
    if (type.text == plain) return type.dtype;
  return error(Code::kUnsupported, "the .npy has elements of type '", text,
               "', expected little-endian numbers or bool");
}

/// Element i in row-major order from the first-index-fastest order of the file.
Result<Tensor> from_fortran(DType dtype, const Dims& dims, std::span<const std::byte> data) {
  Tensor tensor = TRY(Tensor::try_make(dtype, dims));
  const auto size = static_cast<size_t>(size_bytes(dtype));
  std::vector<int64_t> at(dims.size());
  for (size_t i = 0; i < static_cast<size_t>(tensor.count()); ++i) {
    int64_t row_major = 0;
    for (size_t d = 0; d < dims.size(); ++d) row_major = row_major * dims[d] + at[d];
    std::copy_n(data.data() + i * size, size,
                tensor.mutable_data() + row_major * static_cast<int64_t>(size));
    for (size_t d = 0; d < dims.size() && ++at[d] == dims[d]; ++d) at[d] = 0;
  }
  return tensor;
}

/// A tensor whose elements NumPy has a type for.
Result<Tensor> with_numpy_type(const Tensor& tensor) {
  if (!is_float(tensor.dtype()) || tensor.dtype() == DType::kF32 || tensor.dtype() == DType::kF64 ||
      tensor.dtype() == DType::kF16)
    return tensor;
  Tensor wide = TRY(Tensor::try_make(DType::kF32, tensor.dims()));
  for (int64_t i = 0; i < wide.count(); ++i) wide.set_float(i, tensor.float_at(i));
  return wide;
}

}  // namespace

Result<Tensor> parse_npy(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (bytes.size() < 12 || !text.starts_with(kMagic))
    return error(Code::kCorrupt, "it does not open as a .npy");
  const auto at = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(text[i]));
  };
  const bool is_long = at(6) >= 2;
  const size_t begin = is_long ? 12 : 10;
  const size_t length =
      is_long ? at(8) | at(9) << 8 | at(10) << 16 | at(11) << 24 : at(8) | at(9) << 8;
  if (length > bytes.size() - begin)
    return error(Code::kCorrupt, "the .npy ends inside its header");
  const std::string_view header = text.substr(begin, length);
  std::string_view descr = TRY(field(header, "descr", ","));
  if (descr.size() < 2) return error(Code::kCorrupt, "the header of the .npy has no 'descr'");
  const DType dtype = TRY(parse_type(descr.substr(1, descr.size() - 2)));
  const Dims dims = TRY(parse_shape(TRY(field(header, "shape", ")"))));
  const bool fortran = TRY(field(header, "fortran_order", ",")) == "True";
  const int64_t wanted = TRY(checked_bytes(dtype, dims));
  const auto data = bytes.subspan(begin + length);
  if (static_cast<int64_t>(data.size()) < wanted)
    return error(Code::kCorrupt, "the .npy has ", data.size(), " bytes of data, expected ", wanted);
  if (fortran && dims.size() > 1) return from_fortran(dtype, dims, data);
  Tensor tensor = TRY(Tensor::try_make(dtype, dims));
  std::copy_n(data.data(), wanted, tensor.mutable_data());
  return tensor;
}

Result<std::vector<std::byte>> format_npy(const Tensor& given) {
  const Tensor tensor = TRY(with_numpy_type(given));
  std::string_view type;
  for (const NumpyType& row : kTypes)
    if (row.dtype == tensor.dtype()) type = row.text;
  std::string header = cat("{'descr': '", type, "', 'fortran_order': False, 'shape': (",
                           join(tensor.dims(), ", "), tensor.rank() == 1 ? ",), }" : "), }");
  constexpr size_t kPrefix = 10, kAlignment = 64;
  header.append((kAlignment - (kPrefix + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string out(kMagic);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  std::vector<std::byte> bytes(out.size() + static_cast<size_t>(tensor.bytes()));
  std::copy_n(reinterpret_cast<const std::byte*>(out.data()), out.size(), bytes.data());
  std::copy_n(tensor.data(), tensor.bytes(), bytes.data() + out.size());
  return bytes;
}

Result<Tensor> read_npy(const std::string& path) {
  const auto file = TRY(MappedFile::open(path));
  return parse_npy(file->bytes()).in(cat("'", path, "'"));
}

}  // namespace tw::cli
