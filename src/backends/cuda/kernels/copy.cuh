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
#pragma unroll 1
    for (int d = p.n_outer - 1; d >= 0; --d) {
      const uint32_t next = divide(index, p.outer[d]);
      const int64_t at = index - next * static_cast<uint32_t>(p.outer[d].size);
      x += at * p.x_outer[d];
      y += at * p.y_outer[d];
      index = next;
    }
  }
};

/// The first `n` elements of a chunk, or all where it has more; `whole`: they may move at once.
template <class T, int kV>
TW_DEVICE void read_chunk(Pack<T, kV>& chunk, const T* from, int n, bool whole) {
  if (whole && n >= kV) {
    chunk = *reinterpret_cast<const Pack<T, kV>*>(from);
    return;
  }
#pragma unroll
  for (int j = 0; j < kV; ++j)
    if (j < n) chunk.v[j] = from[j];
}
template <class T, int kV>
TW_DEVICE void write_chunk(const Pack<T, kV>& chunk, T* to, int n, bool whole) {
  if (whole && n >= kV) {
    *reinterpret_cast<Pack<T, kV>*>(to) = chunk;
    return;
  }
#pragma unroll
  for (int j = 0; j < kV; ++j)
    if (j < n) to[j] = chunk.v[j];
}

/// A tile is rows of b, in shared memory as eight 16-byte chunks of a each. Chunk c of row r stands
/// in place c ^ (r / kV % 8): then eight lanes that read one column of rows kV apart, as they do to
/// gather chunks of b, meet in no bank; nor do eight that write the chunks of one row.
template <class T>
TW_DEVICE void transpose(const TransposeParams& p) {
  constexpr int kV = 16 / sizeof(T), kSide = 8 * kV;
  constexpr int kRowsAtOnce = kTransposeThreads / 8;
  constexpr int kChunks = kSide / kRowsAtOnce;  // a thread's
  constexpr int kHeld = sizeof(T) == 1 ? 2 : kChunks;
  using Chunk = Pack<T, kV>;
  __shared__ Chunk tile[kSide * 8];  // (b, chunk of a)

  let_next_start();
  wait_for_inputs();
  const TilePlace place(p, kSide);
  const int n_a = static_cast<int>(p.a - place.a < kSide ? p.a - place.a : kSide);
  const int n_b = static_cast<int>(p.b - place.b < kSide ? p.b - place.b : kSide);
  const T* x = static_cast<const T*>(p.x) + place.x;
  T* y = static_cast<T*>(p.y) + place.y;
  const int first_row = static_cast<int>(threadIdx.x) / 8;
  const int chunk = static_cast<int>(threadIdx.x) % 8, first = chunk * kV;

#pragma unroll 1
  for (int group = 0; group < kChunks; group += kHeld) {
    Chunk held[kHeld];
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const int row = first_row + (group + i) * kRowsAtOnce;
      if (row < n_b) read_chunk(held[i], x + row * p.x_b + first, n_a - first, p.whole_x != 0);
    }
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      const int row = first_row + (group + i) * kRowsAtOnce;
      if (row < n_b) tile[row * 8 + (chunk ^ (row / kV % 8))] = held[i];
    }
  }
  __syncthreads();

#pragma unroll kHeld
  for (int i = 0; i < kChunks; ++i) {
    const int row = first_row + i * kRowsAtOnce;
    if (row >= n_a) continue;
    Chunk out;
#pragma unroll
    for (int j = 0; j < kV; ++j) out.v[j] = tile[(first + j) * 8 + (row / kV ^ chunk)].v[row % kV];
    write_chunk(out, y + row * p.y_a + first, n_b - first, p.whole_y != 0);
  }
}
