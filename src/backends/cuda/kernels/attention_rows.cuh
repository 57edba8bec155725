// attention_rows.cuh: what both attention kernels do alike: find a block's place, copy rows of an
// operand into shared memory, read the mask, store rows of y.
#pragma once

#include "attention_mma.cuh"

namespace tw::cuda {

TW_DEVICE float minus_infinity() { return __int_as_float(0xff800000); }

/// One head of one batch, and the tile of its queries that the block computes.
struct AttentionPlace {
  int batch, head, first_query;
  int n_keys_seen;  // by the tile's last query

  TW_DEVICE AttentionPlace(const AttentionParams& p, int rows) {
    const int tile = static_cast<int>(blockIdx.x % static_cast<uint32_t>(p.query_tiles));
    const int rest = static_cast<int>(blockIdx.x / static_cast<uint32_t>(p.query_tiles));
    head = rest % p.heads;
    batch = rest / p.heads;
    // The last queries see the most keys: they start first.
    first_query = (p.causal ? p.query_tiles - 1 - tile : tile) * rows;
    n_keys_seen = keys_seen(p, min(first_query + rows, p.n_queries) - 1);
  }

  /// Keys [0, keys_seen) of a query.
  static TW_DEVICE int keys_seen(const AttentionParams& p, int query) {
    return p.causal ? min(max(query + 1 + p.n_keys - p.n_queries, 0), p.n_keys) : p.n_keys;
  }
  template <class T>
  TW_DEVICE const T* rows_of(const void* operand, const AttentionStrides& strides,
                             int of_head) const {
    return static_cast<const T*>(operand) + batch * strides.batch + of_head * strides.head;
  }
};

/// Rows [first, first + kRows) into shared memory; rows from `n` on and columns from `size` on are
/// zero. Aligned copies go on behind the call, until wait_for_copies.
template <class T, int kRows, int kHead, int kThreads, bool kAligned>
TW_DEVICE void copy_rows(uint32_t to, const T* from, const AttentionStrides& strides, int first,
                         int n, int size) {
  constexpr int kElems = 16 / sizeof(T), kUnits = kHead / kElems;  // of 16 bytes, in a row
  constexpr int kLanes = kUnits & -kUnits;                         // threads of a row
  constexpr int kPass = kThreads / kLanes;                         // rows at a time
  constexpr int kPitch = kHead * static_cast<int>(sizeof(T)) + 16;
  static_assert(kThreads % kLanes == 0 && (kRows % kPass == 0 || kPass % kRows == 0));
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const int row = static_cast<int>(threadIdx.x / kLanes);
  if (kPass > kRows && row >= kRows) return;
  to += static_cast<uint32_t>(row * kPitch + lane * 16);
  const T* at = from + (first + row) * strides.row;
  constexpr int kUnroll = kAligned ? kRows : 1;  // copies on their way need no registers, loads do
#pragma unroll kUnroll
  for (int r = 0; r < kRows; r += kPass, at += kPass * strides.row) {
    const bool inside = first + row + r < n;
#pragma unroll
    for (int c = 0; c < kUnits; c += kLanes) {
      const int column = (c + lane) * kElems;
      const auto unit_to = static_cast<uint32_t>(to + r * kPitch + c * 16);
      if constexpr (kAligned) {
        copy_16_async(unit_to, at + column, inside && column < size ? 16 : 0);
      } else {
        Pack<T, kElems> unit{};
#pragma unroll
        for (int e = 0; e < kElems; ++e)
          if (inside && column + e < size) unit.v[e] = at[(column + e) * strides.column];
        store_shared(unit_to, __builtin_bit_cast(uint4, unit));
      }
    }
  }
}

/// A number of the mask in units of log2. What is finite stays finite: models write -3.4e38.
template <class M>
TW_DEVICE float mask_log2(M number) {
  constexpr float kLog2e = 1.44269504f, kLargest = 3.402823466e38f;
  const float x = to_float(number);
  return fabsf(x) <= kLargest ? fminf(fmaxf(x * kLog2e, -kLargest), kLargest) : x;
}

/// What a row's largest score so far becomes with `top`, the largest of a new block. It follows
/// only when it grew by 2^kSlack: exponentials then stay below 2^kSlack, and rows are rarely
/// rescaled. -infinity while no key was seen.
TW_DEVICE float raise(float largest, float top) {
  constexpr float kSlack = 8;
  return top > __fadd_rn(largest, kSlack) ? top : largest;
}
/// The number that exponents are taken against.
TW_DEVICE float origin(float largest) { return largest == minus_infinity() ? 0.0f : largest; }

/// Rows [row, row + kRows) of a tile from shared memory to y, by kThreads threads; `thread` is this
/// one's place among them.
template <class T, int kRows, int kHead, int kThreads>
TW_DEVICE void store_rows(const AttentionParams& p, T* y, uint32_t from, int first_query,
                          int thread) {
  constexpr int kElems = 16 / sizeof(T), kUnits = kHead / kElems;
  constexpr int kPitch = kHead * static_cast<int>(sizeof(T)) + 16;
  for (int i = thread; i < kRows * kUnits; i += kThreads) {
    const int row = i / kUnits, column = i % kUnits * kElems;
    if (first_query + row >= p.n_queries || column >= p.v_size) continue;
    const uint4 bits =
        load_shared_uint4(from + static_cast<uint32_t>(row * kPitch + i % kUnits * 16));
    T* to = y + (first_query + row) * p.y_strides.row;
    if (p.y_aligned) {
      *reinterpret_cast<uint4*>(to + column) = bits;
    } else {
      const auto unit = __builtin_bit_cast(Pack<T, kElems>, bits);
#pragma unroll
      for (int e = 0; e < kElems; ++e)
        if (column + e < p.v_size) to[(column + e) * p.y_strides.column] = unit.v[e];
    }
  }
}

}  // namespace tw::cuda
