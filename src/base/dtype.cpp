#include "base/dtype.h"

#include <array>

namespace tw {
namespace {

struct Row {
  std::string_view name;
  int8_t bytes;
  char family;  // f loat, i nt, u nsigned, b ool
};

constexpr std::array<Row, kDTypeCount> kRows = {{
    {"f32", 4, 'f'},
    {"f64", 8, 'f'},
    {"f16", 2, 'f'},
    {"bf16", 2, 'f'},
    {"f8e4m3", 1, 'f'},
    {"f8e5m2", 1, 'f'},
    {"i8", 1, 'i'},
    {"i16", 2, 'i'},
    {"i32", 4, 'i'},
    {"i64", 8, 'i'},
    {"u8", 1, 'u'},
    {"u16", 2, 'u'},
    {"u32", 4, 'u'},
    {"u64", 8, 'u'},
    {"bool", 1, 'b'},
}};

const Row& row(DType dtype) { return kRows.at(static_cast<size_t>(dtype)); }

}  // namespace

int64_t size_bytes(DType dtype) { return row(dtype).bytes; }
bool is_float(DType dtype) { return row(dtype).family == 'f'; }
bool is_signed_int(DType dtype) { return row(dtype).family == 'i'; }
bool is_int(DType dtype) { return row(dtype).family == 'i' || row(dtype).family == 'u'; }
std::string_view dtype_name(DType dtype) { return row(dtype).name; }

std::optional<DType> find_dtype(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace tw
