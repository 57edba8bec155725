// copy.cuh: copies between windows. Those that keep the innermost dim run as loops of
// elementwise.cuh; the transpose below is for those that do not.
#pragma once

#include "copy_params.h"
#include "elementwise.cuh"

/// y = x, piece by piece: as it came where both are held alike.
template <class X, class Y>
TW_DEVICE void move_piece(const X& x, Y& y, int n) {
  if constexpr (kSame<X, Y>) {
    y = x;
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) y.at(i) = x[i];
  }
}

/// A block's plane and tile: where its first element lies in x and y.
struct TilePlace {
  int64_t a, b, x, y;

  TW_DEVICE TilePlace(const TransposeParams& p, int side) {
    uint32_t plane = divide(blockIdx.x, p.tiles_b);
    b = static_cast<int64_t>(blockIdx.x - plane * static_cast<uint32_t>(p.tiles_b.size)) * side;
    uint32_t index = divide(plane, p.tiles_a);
    a = static_cast<int64_t>(plane - index * static_cast<uint32_t>(p.tiles_a.size)) * side;
    x = a + b * p.x_b;
    y = b + a * p.y_a;
    for (int d = p.n_outer - 1; d >= 0; --d) {
      const uint32_t next = divide(index, p.outer[d]);
      const int64_t at = index - next * static_cast<uint32_t>(p.outer[d].size);
      x += at * p.x_outer[d];
      y += at * p.y_outer[d];
      index = next;
    }
  }
};

/// A tile is rows of b, in shared memory as eight 16-byte chunks of a each. Chunk c of row r stands
/// in place c ^ (r / kV % 8): then eight lanes that read one column of rows kV apart, as they do to
/// gather chunks of b, meet in no bank; nor do eight that write the chunks of one row.
template <class T>
TW_DEVICE void transpose(const TransposeParams& p) {
  constexpr int kV = 16 / sizeof(T), kSide = 8 * kV;
  constexpr int kChunks = kSide * 8 / kTransposeThreads;  // a thread's
  using Chunk = Pack<T, kV>;
  __shared__ Chunk tile[kSide * 8];  // (b, chunk of a)

  let_next_start();
  wait_for_inputs();
  const TilePlace place(p, kSide);
  const int n_a = static_cast<int>(p.a - place.a < kSide ? p.a - place.a : kSide);
  const int n_b = static_cast<int>(p.b - place.b < kSide ? p.b - place.b : kSide);
  const T* x = static_cast<const T*>(p.x) + place.x;
  T* y = static_cast<T*>(p.y) + place.y;
  const int chunk = static_cast<int>(threadIdx.x) % 8;
  const int first = chunk * kV;

  Chunk held[kChunks];
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int row = static_cast<int>(threadIdx.x) / 8 + i * (kTransposeThreads / 8);
    const T* from = x + row * p.x_b + first;
    if (row >= n_b) continue;
    if (p.whole_x && first + kV <= n_a) {
      held[i] = *reinterpret_cast<const Chunk*>(from);
    } else {
#pragma unroll
      for (int j = 0; j < kV; ++j)
        if (first + j < n_a) held[i].v[j] = from[j];
    }
  }
#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int row = static_cast<int>(threadIdx.x) / 8 + i * (kTransposeThreads / 8);
    if (row < n_b) tile[row * 8 + (chunk ^ (row / kV % 8))] = held[i];
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kChunks; ++i) {
    const int row = static_cast<int>(threadIdx.x) / 8 + i * (kTransposeThreads / 8);
    T* to = y + row * p.y_a + first;
    if (row >= n_a) continue;
    Chunk out;
#pragma unroll
    for (int j = 0; j < kV; ++j) out.v[j] = tile[(first + j) * 8 + (row / kV ^ chunk)].v[row % kV];
    if (p.whole_y && first + kV <= n_b) {
      *reinterpret_cast<Chunk*>(to) = out;
    } else {
#pragma unroll
      for (int j = 0; j < kV; ++j)
        if (first + j < n_b) to[j] = out.v[j];
    }
  }
}
