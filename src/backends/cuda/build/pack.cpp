#include "backends/cuda/build/pack.h"

namespace tw::cuda {
namespace {

Result<void> check_type(const Tensor& weight) {
  const DType t = weight.dtype();
  if (t == DType::kF16 || t == DType::kBF16 || t == DType::kF32) return {};
  return error(Code::kUnsupported, "weight is ", weight.type_text(),
               ", packed forms are of f16, bf16 or f32");
}

/// out[i][j] = weight[i * row + j * col], rows of `pitch` elements.
template <class T>
void copy_rows(const T* from, int64_t rows, int64_t cols, int64_t row, int64_t col, T* to,
               int64_t pitch) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) to[i * pitch + j] = from[i * row + j * col];
}

/// Calls f with the address of the elements as unsigned integers of their size.
template <class F>
void on_elements(const Tensor& from, std::vector<std::byte>& to, F&& f) {
  if (size_bytes(from.dtype()) == 2)
    f(from.as<uint16_t>(), reinterpret_cast<uint16_t*>(to.data()));
  else
    f(from.as<uint32_t>(), reinterpret_cast<uint32_t*>(to.data()));
}

int64_t padded(int64_t elems, DType dtype) {
  const int64_t piece = 16 / size_bytes(dtype);
  return (elems + piece - 1) / piece * piece;
}

std::vector<std::byte> room_for(int64_t elems, DType dtype) {
  return std::vector<std::byte>(static_cast<size_t>(elems * size_bytes(dtype)));
}

}  // namespace

Result<std::vector<std::byte>> pack_gemm_b(const Tensor& b, bool transposed) {
  TRY(check_type(b));
  if (b.rank() != 2)
    return error(Code::kUnsupported, "gemm weight is ", b.type_text(), ", expected two dims");
  const int64_t n = b.dims()[transposed ? 0 : 1], k = b.dims()[transposed ? 1 : 0];
  const int64_t pitch = padded(k, b.dtype());
  std::vector<std::byte> packed = room_for(n * pitch, b.dtype());
  on_elements(b, packed, [&](const auto* from, auto* to) {
    copy_rows(from, n, k, transposed ? k : 1, transposed ? 1 : n, to, pitch);
  });
  return packed;
}

Result<std::vector<std::byte>> pack_conv_w(const Tensor& w, int64_t groups) {
  TRY(check_type(w));
  if (w.rank() < 3)
    return error(Code::kUnsupported, "conv weight is ", w.type_text(),
                 ", expected three or more dims");
  const int64_t co = w.dims()[0], ci = w.dims()[1];
  int64_t taps = 1;
  for (size_t d = 2; d < w.dims().size(); ++d) taps *= w.dims()[d];
  if (groups > 1 && ci == 1) {
    std::vector<std::byte> packed = room_for(taps * co, w.dtype());
    on_elements(w, packed,
                [&](const auto* from, auto* to) { copy_rows(from, taps, co, 1, taps, to, co); });
    return packed;
  }
  const int64_t pitch = padded(taps * ci, w.dtype());
  std::vector<std::byte> packed = room_for(co * pitch, w.dtype());
  on_elements(w, packed, [&](const auto* from, auto* to) {
    for (int64_t o = 0; o < co; ++o)
      copy_rows(from + o * ci * taps, taps, ci, 1, taps, to + o * pitch, ci);
  });
  return packed;
}

}  // namespace tw::cuda
