// elementwise.cuh: the loop that elementwise, copy and gather kernels share (elementwise_params.h
// says how it is cut), and the three ways in which an operand lies along a row. What is done with
// the elements is a `Work` struct: load() reads a piece of every input, finish() computes and
// stores.
#pragma once

#include "elementwise_params.h"

using namespace tw::cuda;

TW_DEVICE uint32_t divide(uint32_t n, const Divider& by) {
  return (__umulhi(n, by.multiplier) + n) >> by.shift;
}
TW_DEVICE uint64_t divide(uint64_t n, const Divider& by) { return n / by.size; }

template <class Stride>
struct PieceIndex {
  using Type = uint64_t;
};
template <>
struct PieceIndex<int> {
  using Type = uint32_t;
};

/// Where a piece lies: its coordinates in the outer dims and its first element in the row.
template <int kOuter, class Stride>
struct Place {
  using Index = typename PieceIndex<Stride>::Type;
  Stride outer[kOuter > 0 ? kOuter : 1];
  int64_t col;

  TW_DEVICE void set(const LoopParams<kOuter, Stride>& p, Index piece, int piece_elems) {
    if constexpr (kOuter == 0) {
      col = static_cast<int64_t>(piece) * piece_elems;
    } else {
      Index row = divide(piece, p.row_pieces);
      col = static_cast<int64_t>(piece - row * static_cast<Index>(p.row_pieces.size)) * piece_elems;
#pragma unroll
      for (int d = kOuter - 1; d > 0; --d) {
        const Index next = divide(row, p.dims[d]);
        outer[d] = static_cast<Stride>(row - next * static_cast<Index>(p.dims[d].size));
        row = next;
      }
      outer[0] = static_cast<Stride>(row);
    }
  }

  /// The element of operand k where the row begins.
  TW_DEVICE int64_t row(const LoopParams<kOuter, Stride>& p, int k) const {
    int64_t offset = 0;
#pragma unroll
    for (int d = 0; d < kOuter; ++d)
      offset += static_cast<int64_t>(outer[d]) * static_cast<int64_t>(p.strides[k][d]);
    return offset;
  }
};

/// The coordinates of element i of a piece, for programs that count. `kFirst`: how many of the
/// loop's dims stand in front of the task's.
template <class Where, int kOuter, int kFirst>
struct Coordinates {
  const Where& place;
  int i;
  TW_DEVICE int64_t operator()(int axis) const {
    return axis + kFirst == kOuter ? place.col + i : place.outer[axis + kFirst];
  }
};
struct NoCoordinates {
  TW_DEVICE int64_t operator()(int) const { return 0; }
};

/// An operand whose row lies side by side, aligned to pieces.
template <class T, int kN>
struct Along {
  Pack<T, kN> pack;
  TW_DEVICE T operator[](int i) const { return pack.v[i]; }
  TW_DEVICE T& at(int i) { return pack.v[i]; }
  template <class Params, class Where>
  TW_DEVICE void load(const Params& p, int k, const Where& at, int64_t shift = 0) {
    const T* from = static_cast<const T*>(p.data[k]) + at.row(p, k) + at.col + shift;
    pack = *reinterpret_cast<const Pack<T, kN>*>(from);
  }
  template <class Params, class Where>
  TW_DEVICE void store(const Params& p, int k, const Where& at) const {
    T* to = static_cast<T*>(p.data[k]) + at.row(p, k) + at.col;
    *reinterpret_cast<Pack<T, kN>*>(to) = pack;
  }
};

/// The same for bytes that are only moved: a piece is one word, which nothing takes apart.
template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};
template <int kN>
struct Bytes {
  using Type = typename Word<kN>::Type;
  Type word;
  template <class Params, class Where>
  TW_DEVICE void load(const Params& p, int k, const Where& at, int64_t shift = 0) {
    const uint8_t* from = static_cast<const uint8_t*>(p.data[k]) + at.row(p, k) + at.col + shift;
    word = *reinterpret_cast<const Type*>(from);
  }
  template <class Params, class Where>
  TW_DEVICE void store(const Params& p, int k, const Where& at) const {
    uint8_t* to = static_cast<uint8_t*>(p.data[k]) + at.row(p, k) + at.col;
    *reinterpret_cast<Type*>(to) = word;
  }
};

/// An operand with one element for the whole row.
template <class T, int kN>
struct Repeated {
  T value;
  TW_DEVICE T operator[](int) const { return value; }
  template <class Params, class Where>
  TW_DEVICE void load(const Params& p, int k, const Where& at, int64_t shift = 0) {
    value = static_cast<const T*>(p.data[k])[at.row(p, k) + shift];
  }
};

/// An operand with any distance between the elements of a row.
template <class T, int kN>
struct Strided {
  T values[kN];
  TW_DEVICE T operator[](int i) const { return values[i]; }
  TW_DEVICE T& at(int i) { return values[i]; }
  template <class Params, class Where>
  TW_DEVICE void load(const Params& p, int k, const Where& at, int64_t shift = 0) {
    const int64_t stride = p.strides[k][Params::kRow];
    const T* from = static_cast<const T*>(p.data[k]) + at.row(p, k) + at.col * stride + shift;
#pragma unroll
    for (int i = 0; i < kN; ++i) values[i] = from[i * stride];
  }
  template <class Params, class Where>
  TW_DEVICE void store(const Params& p, int k, const Where& at) const {
    const int64_t stride = p.strides[k][Params::kRow];
    T* to = static_cast<T*>(p.data[k]) + at.row(p, k) + at.col * stride;
#pragma unroll
    for (int i = 0; i < kN; ++i) to[i * stride] = values[i];
  }
};

/// Thread t of block b takes pieces b * kUnroll * kLoopThreads + t, then every kLoopThreads-th: all
/// their loads are under way before the first is used. The last block does the rest as well.
template <template <int> class Work, int kN, int kUnroll, class Params>
TW_DEVICE void run_loop(const Params& p) {
  constexpr int kOuter = Params::kRow;
  using Where = Place<kOuter, typename Params::StrideType>;
  using Index = typename Where::Index;
  let_next_start();
  wait_for_inputs();
  const Index n_pieces = static_cast<Index>(p.n_pieces);
  const Index first = static_cast<Index>(blockIdx.x) * (kUnroll * kLoopThreads) + threadIdx.x;
  Work<kN> work[kUnroll];
  Where place[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Index piece = first + u * kLoopThreads;
    if (piece >= n_pieces) continue;
    place[u].set(p, piece, kN);
    work[u].load(p, place[u]);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
    if (first + u * kLoopThreads < n_pieces) work[u].finish(p, place[u]);
  if constexpr (kOuter == 0 && kN > 1) {
    if (blockIdx.x + 1 != gridDim.x || static_cast<int>(threadIdx.x) >= p.n_rest) return;
    Work<1> last;
    Where at;
    at.col = p.n_pieces * kN + threadIdx.x;
    last.load(p, at);
    last.finish(p, at);
  }
}
