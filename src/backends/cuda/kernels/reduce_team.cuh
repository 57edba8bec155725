// reduce_team.cuh: what kernels over rows share: offsets from indices, chunks of elements, and the
// team of threads that holds a row and reduces it. After base.cuh.
#pragma once

#include <reduce_nest.h>

namespace tw::cuda {

TW_DEVICE unsigned divide(unsigned n, const Divisor& by) {
  return (__umulhi(n, by.multiplier) + n) >> by.shift;
}

template <int kOperands>
struct Offsets {
  int64_t at[kOperands];
};

/// Where index `i` of the loops is in each operand.
template <int kOperands>
TW_DEVICE Offsets<kOperands> locate(const Nest<kOperands>& nest, unsigned i) {
  Offsets<kOperands> offsets{};
#pragma unroll 1
  for (int d = nest.rank - 1; d >= 0; --d) {
    const unsigned outer = d > 0 ? divide(i, nest.dims[d]) : 0;
    const int64_t coordinate = i - outer * nest.dims[d].divisor;
#pragma unroll
    for (int o = 0; o < kOperands; ++o) offsets.at[o] += coordinate * nest.strides[o][d];
    i = outer;
  }
  return offsets;
}

// ---- chunks: W neighbours along a dim ----
template <class T>
inline constexpr int kChunk = kChunkElements[sizeof(T)];

/// One or more accesses of at most 16 bytes.
template <int W, class T>
TW_DEVICE void move_chunk(T* to, const T* from) {
  constexpr int kPart = sizeof(T) * W > 16 ? 16 / sizeof(T) : W;
#pragma unroll
  for (int j = 0; j < W; j += kPart)
    *reinterpret_cast<Pack<T, kPart>*>(to + j) = *reinterpret_cast<const Pack<T, kPart>*>(from + j);
}

/// Elements [i, i + W) of the n along `row`, `step` apart. The row's first ones stand for those
/// that are not there: row[0] is always readable, and loads without branches are in flight
/// together. kWhole: n is a multiple of W and chunks move as one (is_whole() on the host).
template <int W, bool kWhole, class T>
TW_DEVICE Pack<T, W> load_chunk(const T* row, int64_t step, int i, int n) {
  Pack<T, W> chunk;
  if constexpr (kWhole) {
    move_chunk<W>(chunk.v, row + (i < n ? i : 0));
  } else {
#pragma unroll
    for (int j = 0; j < W; ++j) chunk.v[j] = row[i + j < n ? (i + j) * step : 0];
  }
  return chunk;
}

template <int W, bool kWhole, class T>
TW_DEVICE void store_chunk(T* row, int64_t step, int i, int n, const Pack<T, W>& chunk) {
  if constexpr (kWhole) {
    if (i < n) move_chunk<W>(row + i, chunk.v);
  } else {
#pragma unroll
    for (int j = 0; j < W; ++j)
      if (i + j < n) row[(i + j) * step] = chunk.v[j];
  }
}

/// Brings n elements that nothing writes into the first-level cache; the members of a team share
/// the work.
template <class T>
TW_DEVICE void warm(const T* data, int n, int rank, int size) {
  constexpr int kLine = 128 / sizeof(T);
#pragma unroll 1
  for (int i = rank * kLine; i < n; i += size * kLine) {
    unsigned ignored;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(ignored) : "l"(data + i));
  }
}

template <class L>
TW_DEVICE L infinity() {
  return static_cast<L>(__int_as_float(0x7f800000));
}

/// Of floats into integers: truncated, saturated, NaN to 0.
template <class T, class L>
TW_DEVICE T saturate(L x) {
  constexpr bool kSigned = T(-1) < T(0);
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8 - (kSigned ? 1 : 0);
  constexpr L kHigh = static_cast<L>(1ull << (kBits - 1)) * 2;  // one past the highest
  constexpr T kHighest = static_cast<T>(~0ull >> (64 - kBits));
  constexpr T kLowest = kSigned ? static_cast<T>(-kHighest - 1) : T(0);
  if (x != x) return T(0);
  if (x >= kHigh) return kHighest;
  return x <= (kSigned ? -kHigh : L(0)) ? kLowest : static_cast<T>(x);
}

/// A computed value as it is stored, by the rules of the CPU's lanes (backends/cpu/lanes.h).
template <class T, class L>
TW_DEVICE T convert(L x) {
  constexpr bool kFromFloat = kSame<L, float> || kSame<L, double>;
  if constexpr (kSame<T, bool>)
    return x != L(0);
  else if constexpr (kFromFloat && kSame<Lane<T>, int64_t>)
    return saturate<T>(x);
  else
    return from_lane<T>(x);
}

// ---- teams ----
/// The value that the lane `lanes` away (in bits of its number) holds.
template <class S>
TW_DEVICE S swap_lanes(const S& x, int lanes) {
  static_assert(sizeof(S) % 4 == 0, "lanes exchange words");
  uint32_t words[sizeof(S) / 4];
  memcpy(words, &x, sizeof(S));
#pragma unroll
  for (uint32_t& word : words) word = __shfl_xor_sync(0xffffffffu, word, lanes);
  S y;
  memcpy(&y, words, sizeof(S));
  return y;
}

/// The threads that share a row: 1, 2, 4 .. 32 lanes of a warp, or a whole block. Teams past the
/// last row take part in every exchange.
struct Team {
  int size, rank;
  unsigned row;

  TW_DEVICE Team(int team_size, unsigned block) : size(team_size) {
    const unsigned n = static_cast<unsigned>(size);
    row = size > 32 ? block : block * (blockDim.x / n) + threadIdx.x / n;
    rank = static_cast<int>(size > 32 ? threadIdx.x : threadIdx.x % n);
  }

  /// The join of every member's x, the same bits in each. A kernel gives each of its calls a kStep
  /// of its own: what one call leaves in shared memory the next may not overwrite.
  template <int kStep, class S, class Join>
  TW_DEVICE S reduce(S x, Join join) const {
    if (size < 32) {
#pragma unroll 1
      for (int lanes = size / 2; lanes > 0; lanes /= 2) x = join(x, swap_lanes(x, lanes));
      return x;
    }
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) x = join(x, swap_lanes(x, lanes));
    if (size == 32) return x;
    __shared__ S partial[32];
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = partial[0];
    const int warps = size / 32;
#pragma unroll 1
    for (int w = 1; w < warps; w += 4) {  // four are on their way together
      S next[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) next[j] = partial[min(w + j, warps - 1)];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (w + j < warps) x = join(x, next[j]);
    }
    return x;
  }
};

/// NaN where there is one.
struct LargerOrNan {
  template <class T>
  TW_DEVICE T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

/// A team's row: the first kHeld chunks of each member stay in registers, what a long row has
/// beyond them is read again by each visit. kShort: a member has one chunk at most.
template <class T, bool kWhole, bool kShort = false>
struct HeldRow {
  using L = Lane<T>;
  static constexpr int W = kChunk<T>;
  static constexpr int kHeld = kShort   ? 1
                               : kWhole ? kHeldChunks[sizeof(T)]
                                        : 2;  // addresses take registers too
  const Team& team;
  const T* row;
  int64_t step;
  int n;
  L fill;            // stands beyond the end of the row
  L held[kHeld][W];  // (chunk / team.size, element)

  TW_DEVICE HeldRow(const Team& of, const T* x, int64_t x_step, int n_elements, L beyond)
      : team(of), row(x), step(x_step), n(n_elements), fill(beyond) {
    Pack<T, W> chunks[kHeld];
#pragma unroll
    for (int v = 0; v < kHeld; ++v) chunks[v] = load_chunk<W, kWhole>(row, step, place(v), n);
#pragma unroll
    for (int v = 0; v < kHeld; ++v) widen(chunks[v], place(v), held[v]);
  }

  /// The first element of the member's chunk v.
  TW_DEVICE int place(int v) const { return (v * team.size + team.rank) * W; }

  /// Whether element j of the chunk at i is there; asked of chunks whose first is.
  TW_DEVICE bool holds(int i, int j) const { return kWhole || i + j < n; }

  TW_DEVICE void widen(const Pack<T, W>& chunk, int i, L (&values)[W]) const {
#pragma unroll
    for (int j = 0; j < W; ++j) values[j] = holds(i, j) ? to_lane(chunk.v[j]) : fill;
  }

  /// body(values, v, i): values[0] is element i of the row; values may be changed.
  template <class Body>
  TW_DEVICE void visit_held(Body body) {
#pragma unroll
    for (int v = 0; v < kHeld; ++v)
      if (place(v) < n) body(held[v], v, place(v));
  }
  /// body(values, i).
  template <class Body>
  TW_DEVICE void visit_rest(Body body) const {
    if constexpr (kShort) return;
#pragma unroll 1
    for (int i = place(kHeld); i < n; i += team.size * W) {
      L values[W];
      widen(load_chunk<W, kWhole>(row, step, i, n), i, values);
      body(values, i);
    }
  }
  template <class Body>
  TW_DEVICE void visit(Body body) {
    visit_held([&](L(&values)[W], int, int i) { body(values, i); });
    visit_rest(body);
  }
};

/// The sum of a chunk, in halves: short chains.
template <int W, class L>
TW_DEVICE L sum_chunk(const L (&x)[W]) {
  L sums[W];
#pragma unroll
  for (int j = 0; j < W; ++j) sums[j] = x[j];
#pragma unroll
  for (int half = W / 2; half > 0; half /= 2)
#pragma unroll
    for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
  return sums[0];
}

}  // namespace tw::cuda
