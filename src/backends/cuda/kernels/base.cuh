// base.cuh: what every kernel that is compiled for a plan starts with: element types, conversions,
// programmatic dependent launch, reductions over lanes. Self-contained: NVRTC needs no other
// header.
#pragma once

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

#define TW_DEVICE __device__ __forceinline__

/// Whether two types are one. NVRTC has no __is_same.
template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

// ---- element types: storage only, arithmetic is done on float (or double, or int64_t) ----
struct alignas(2) f16 {
  uint16_t bits;
};
struct alignas(2) bf16 {
  uint16_t bits;
};

TW_DEVICE float to_float(float x) { return x; }
TW_DEVICE float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
TW_DEVICE float to_float(bf16 x) { return __uint_as_float(static_cast<uint32_t>(x.bits) << 16); }

template <class T>
struct FromFloat;
template <>
struct FromFloat<float> {
  static TW_DEVICE float of(float x) { return x; }
};
/// Saturates: what is beyond 65504 becomes 65504, NaN and infinities stay.
template <>
struct FromFloat<f16> {
  static TW_DEVICE f16 of(float x) {
    if (fabsf(x) < __int_as_float(0x7f800000)) x = fminf(fmaxf(x, -65504.0f), 65504.0f);
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
};
template <>
struct FromFloat<bf16> {
  static TW_DEVICE bf16 of(float x) {
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
};

/// The lane an element is computed in (task/pointwise.h): float, double or int64_t.
template <class T>
struct LaneOf {
  using Type = int64_t;
};
template <>
struct LaneOf<float> {
  using Type = float;
};
template <>
struct LaneOf<f16> {
  using Type = float;
};
template <>
struct LaneOf<bf16> {
  using Type = float;
};
template <>
struct LaneOf<double> {
  using Type = double;
};
template <class T>
using Lane = typename LaneOf<T>::Type;

template <class T>
TW_DEVICE Lane<T> to_lane(T x) {
  if constexpr (kSame<Lane<T>, float>)
    return to_float(x);
  else
    return static_cast<Lane<T>>(x);
}
template <class T, class L>
TW_DEVICE T from_lane(L x) {
  if constexpr (kSame<Lane<T>, float>)
    return FromFloat<T>::of(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

/// N elements that move as one access; the address is a multiple of its size.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T v[N];
};

// ---- programmatic dependent launch ----
/// Lets the next kernel of the stream start its blocks as soon as there is room for them.
TW_DEVICE void let_next_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
/// Returns when all kernels before this one are complete and their results are visible. Every
/// kernel calls it in every thread before it reads or writes anything but immutable weights.
TW_DEVICE void wait_for_inputs() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// ---- reductions ----
template <class T, class F>
TW_DEVICE T reduce_warp(T x, F combine) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2)
    x = combine(x, __shfl_xor_sync(0xffffffffu, x, lanes));
  return x;
}
struct Add {
  template <class T>
  TW_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  template <class T>
  TW_DEVICE T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

/// Over all threads of a block (a multiple of 32, at most 1024); the same bits in every thread.
template <class T, class F>
TW_DEVICE T reduce_block(T x, F combine) {
  __shared__ T partial[32];
  x = reduce_warp(x, combine);
  const int warps = static_cast<int>(blockDim.x) / 32;
  if (warps == 1) return x;
  __syncthreads();  // the call before may still be read
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  x = partial[0];
  for (int w = 1; w < warps; ++w) x = combine(x, partial[w]);
  return x;
}
