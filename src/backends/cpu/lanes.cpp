#include "backends/cpu/lanes.h"

#include <algorithm>
#include <cstring>

namespace tw::cpu {
namespace {

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

/// The vector kernel for contiguous elements; false when there is none.
bool load_fast(const Kernels& k, DType dtype, const std::byte* src, int64_t n, float* dst) {
  const auto* half = reinterpret_cast<const uint16_t*>(src);
  switch (dtype) {
    case DType::kF16:
      k.convert.f16_to_f32(half, dst, n);
      return true;
    case DType::kBF16:
      k.convert.bf16_to_f32(half, dst, n);
      return true;
    case DType::kI32:
      k.convert.i32_to_f32(reinterpret_cast<const int32_t*>(src), dst, n);
      return true;
    case DType::kU8:
      k.convert.u8_to_f32(reinterpret_cast<const uint8_t*>(src), dst, n);
      return true;
    default:
      return false;
  }
}
template <class Lane>
bool load_fast(const Kernels&, DType, const std::byte*, int64_t, Lane*) {
  return false;
}

bool store_fast(const Kernels& k, DType dtype, const float* src, int64_t n, std::byte* dst) {
  auto* half = reinterpret_cast<uint16_t*>(dst);
  switch (dtype) {
    case DType::kF16:
      k.convert.f32_to_f16(src, half, n);
      return true;
    case DType::kBF16:
      k.convert.f32_to_bf16(src, half, n);
      return true;
    default:
      return false;
  }
}
template <class Lane>
bool store_fast(const Kernels&, DType, const Lane*, int64_t, std::byte*) {
  return false;
}

template <class Element, class Lane>
void load_strided(const std::byte* src, int64_t stride, int64_t n, Lane* dst) {
  using Bits = typename Element::Bits;
  if (stride == static_cast<int64_t>(sizeof(Bits))) {
    const auto* bits = reinterpret_cast<const Bits*>(src);
    for (int64_t i = 0; i < n; ++i) dst[i] = convert<Lane>(Element::get(bits[i]));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    dst[i] = convert<Lane>(Element::get(read<Bits>(src + i * stride)));
}

template <class Element, class Lane>
void store_strided(const Lane* src, int64_t n, std::byte* dst, int64_t stride) {
  using Value = typename Element::Value;
  for (int64_t i = 0; i < n; ++i) {
    write(dst + i * stride, Element::put(convert<Value>(src[i])));
  }
}

}  // namespace

template <class Lane>
void load_lane(const Kernels& kernels, DType dtype, const std::byte* src, int64_t stride_bytes,
               int64_t n, Lane* dst) {
  if (n <= 0) return;
  if (stride_bytes == 0) {
    with_element(dtype, [&]<class Element>(Element) { load_strided<Element>(src, 0, 1, dst); });
    std::fill(dst + 1, dst + n, dst[0]);
    return;
  }
  if (stride_bytes == size_bytes(dtype)) {
    if (is_lane<Lane>(dtype)) {
      std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(Lane));
      return;
    }
    if (load_fast(kernels, dtype, src, n, dst)) return;
  }
  with_element(dtype,
               [&]<class Element>(Element) { load_strided<Element>(src, stride_bytes, n, dst); });
}

template <class Lane>
void store_lane(const Kernels& kernels, DType dtype, const Lane* src, int64_t n, std::byte* dst,
                int64_t stride_bytes) {
  if (n <= 0) return;
  if (stride_bytes == size_bytes(dtype)) {
    if (is_lane<Lane>(dtype)) {
      std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(Lane));
      return;
    }
    if (store_fast(kernels, dtype, src, n, dst)) return;
  }
  with_element(dtype,
               [&]<class Element>(Element) { store_strided<Element>(src, n, dst, stride_bytes); });
}

template void load_lane(const Kernels&, DType, const std::byte*, int64_t, int64_t, float*);
template void load_lane(const Kernels&, DType, const std::byte*, int64_t, int64_t, double*);
template void load_lane(const Kernels&, DType, const std::byte*, int64_t, int64_t, int64_t*);
template void store_lane(const Kernels&, DType, const float*, int64_t, std::byte*, int64_t);
template void store_lane(const Kernels&, DType, const double*, int64_t, std::byte*, int64_t);
template void store_lane(const Kernels&, DType, const int64_t*, int64_t, std::byte*, int64_t);

}  // namespace tw::cpu
