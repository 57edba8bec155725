// scatter.cuh: updates go to the places that index names, duplicates in index order, with no atomic
// and no scratch memory: of the updates that meet in one place the first (when it is replaced, the
// last) does the work of all, and finds the others by reading index. Reading it costs the square of
// the number of updates that can meet; the host declines where that is too much. Updates whose
// index is out of range are left out and reported.
#pragma once

#include "elementwise.cuh"
#include "index_fault.cuh"
#include "scatter_params.h"

constexpr int64_t kNowhere = static_cast<int64_t>(1ull << 63);

/// Of integers, sums and products wrap. min and max give NaN when either is NaN.
template <ScatterCombine kHow, class V>
TW_DEVICE V combine_values(V old, V update) {
  if constexpr (kHow == ScatterCombine::kAdd) return old + update;
  if constexpr (kHow == ScatterCombine::kMul) return old * update;
  if constexpr (kHow == ScatterCombine::kMin) return old != old || old < update ? old : update;
  return old != old || old > update ? old : update;
}

/// The element after one update; rounded to its type, as if it had been stored.
template <ScatterCombine kHow, class T>
TW_DEVICE T combine(T old, T update) {
  constexpr bool kWraps = kHow == ScatterCombine::kAdd || kHow == ScatterCombine::kMul;
  if constexpr (kHow == ScatterCombine::kReplace)
    return update;
  else if constexpr (kSame<Lane<T>, float>)
    return FromFloat<T>::of(combine_values<kHow>(to_float(old), to_float(update)));
  else if constexpr (kSame<T, double>)
    return combine_values<kHow>(old, update);
  else if constexpr (kSame<T, bool>)
    return combine_values<kHow>(static_cast<int>(old), static_cast<int>(update)) != 0;
  else if constexpr (kWraps)
    return static_cast<T>(
        combine_values<kHow>(static_cast<uint64_t>(old), static_cast<uint64_t>(update)));
  else
    return combine_values<kHow>(old, update);
}

/// A number of index as a coordinate below `extent`, or kNowhere.
TW_DEVICE int64_t coordinate(int64_t i, int64_t extent) {
  if (i < 0) i += extent;
  return static_cast<uint64_t>(i) < static_cast<uint64_t>(extent) ? i : kNowhere;
}

/// A thread an update; those that can meet lie in one line along the axis.
template <class T, class Index, ScatterCombine kHow>
TW_DEVICE void scatter_elements(const ScatterElementsParams& p) {
  constexpr int kAtOnce = 8;
  let_next_start();
  wait_for_inputs();
  const uint32_t number = blockIdx.x * kScatterThreads + threadIdx.x;
  if (number >= static_cast<uint32_t>(p.n)) return;
  uint32_t line = divide(number, p.axis);
  const int64_t mine = number - line * static_cast<uint32_t>(p.n_axis);
  int64_t y_line = 0, index_line = 0, update_line = 0;
#pragma unroll 1
  for (int d = p.rank - 1; d >= 0; --d) {
    const uint32_t next = divide(line, p.dims[d]);
    const int64_t at = line - next * static_cast<uint32_t>(p.dims[d].size);
    y_line += at * p.y_strides[d];
    index_line += at * p.index_strides[d];
    update_line += at * p.update_strides[d];
    line = next;
  }
  const Index* index = static_cast<const Index*>(p.index) + index_line;
  const T* updates = static_cast<const T*>(p.updates) + update_line;
  const auto place = [&](int64_t i) { return coordinate(index[i * p.index_axis], p.extent); };
  const int64_t to = place(mine);
  if (to == kNowhere)
    return report_index(p.check, index_line + mine * p.index_axis, 0,
                        static_cast<int64_t>(index[mine * p.index_axis]));

  constexpr bool kReplace = kHow == ScatterCombine::kReplace;
  const int64_t rivals = kReplace ? p.n_axis : mine;
  for (int64_t i = kReplace ? mine + 1 : 0; i < rivals; i += kAtOnce) {
    bool meets = false;
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) meets |= i + j < rivals && place(i + j) == to;
    if (meets) return;
  }
  T* y = static_cast<T*>(p.y) + y_line + to * p.y_axis;
  if constexpr (kReplace) {
    *y = updates[mine * p.update_axis];
  } else {
    T sum = combine<kHow>(*y, updates[mine * p.update_axis]);
    for (int64_t i = mine + 1; i < p.n_axis; ++i)
      if (place(i) == to) sum = combine<kHow>(sum, updates[i * p.update_axis]);
    *y = sum;
  }
}

/// The element of `index` where the tuple of update number i begins.
TW_DEVICE int64_t tuple_begin(const ScatterNdParams& p, uint32_t i) {
  int64_t at = 0;
#pragma unroll 1
  for (int d = p.rank - 1; d >= 0; --d) {
    const uint32_t next = divide(i, p.dims[d]);
    at +=
        static_cast<int64_t>(i - next * static_cast<uint32_t>(p.dims[d].size)) * p.index_strides[d];
    i = next;
  }
  return at;
}

/// Where update number i goes in y, or kNowhere.
template <class Index>
TW_DEVICE int64_t destination(const ScatterNdParams& p, uint32_t i) {
  const Index* tuple = static_cast<const Index*>(p.index) + tuple_begin(p, i);
  int64_t to = 0;
#pragma unroll 1
  for (int d = 0; d < p.depth; ++d) {
    const int64_t c = coordinate(tuple[d * p.tuple_stride], p.extents[d]);
    if (c == kNowhere) return kNowhere;
    to += c * p.steps[d];
  }
  return to;
}

/// The element of `updates` where update number i begins.
TW_DEVICE int64_t update_begin(const ScatterNdParams& p, uint32_t i) {
  int64_t at = 0;
#pragma unroll 1
  for (int d = p.rank - 1; d >= 0; --d) {
    const uint32_t next = divide(i, p.dims[d]);
    at += static_cast<int64_t>(i - next * static_cast<uint32_t>(p.dims[d].size)) *
          p.update_strides[d];
    i = next;
  }
  return at;
}

/// The columns of a thread: offsets in y and in an update; `count` of them exist.
struct Columns {
  int64_t y[kScatterColumns], update[kScatterColumns];
  int count;

  TW_DEVICE Columns(const ScatterNdParams& p, int64_t first) : count(0) {
#pragma unroll
    for (int c = 0; c < kScatterColumns; ++c) {
      const int64_t column = first + c * kScatterThreads;
      y[c] = update[c] = 0;
      if (column >= p.n_columns) continue;
      count = c + 1;
      uint32_t rest = static_cast<uint32_t>(column);
#pragma unroll 1
      for (int d = p.column_rank - 1; d >= 0; --d) {
        const uint32_t next = divide(rest, p.column_dims[d]);
        const int64_t at = rest - next * static_cast<uint32_t>(p.column_dims[d].size);
        y[c] += at * p.y_columns[d];
        update[c] += at * p.update_columns[d];
        rest = next;
      }
    }
  }
};

/// Whether one of updates [first, last) goes to `to`. For all threads of a block.
template <class Index>
TW_DEVICE bool any_goes(const ScatterNdParams& p, uint32_t first, uint32_t last, int64_t to) {
  for (uint32_t i = first; i < last; i += kScatterThreads) {
    const uint32_t other = i + threadIdx.x;
    if (__syncthreads_or(other < last && destination<Index>(p, other) == to)) return true;
  }
  return false;
}

/// A block an update and kScatterThreads * kScatterColumns of its columns.
template <class T, class Index, ScatterCombine kHow>
TW_DEVICE void scatter_nd(const ScatterNdParams& p) {
  constexpr bool kReplace = kHow == ScatterCombine::kReplace;
  __shared__ uint32_t meeting[kScatterThreads / 32];  // bit t of word w: thread 32 w + t found one
  let_next_start();
  wait_for_inputs();
  const uint32_t mine = blockIdx.x, n = static_cast<uint32_t>(p.n);
  const int64_t to = destination<Index>(p, mine);
  if (to == kNowhere) {
    if (threadIdx.x == 0 && blockIdx.y == 0)
      report_tuple(p, static_cast<const Index*>(p.index), tuple_begin(p, mine));
    return;
  }
  if (any_goes<Index>(p, kReplace ? mine + 1 : 0, kReplace ? n : mine, to)) return;

  const Columns columns(
      p, static_cast<int64_t>(blockIdx.y) * (kScatterThreads * kScatterColumns) + threadIdx.x);
  T* y = static_cast<T*>(p.y) + to;
  const T* updates = static_cast<const T*>(p.updates);
  T sums[kScatterColumns];
  const auto take = [&](uint32_t i) {
    const T* update = updates + update_begin(p, i);
#pragma unroll
    for (int c = 0; c < kScatterColumns; ++c)
      if (c < columns.count) sums[c] = combine<kHow>(sums[c], update[columns.update[c]]);
  };
  if constexpr (kReplace) {
    take(mine);
  } else {
#pragma unroll
    for (int c = 0; c < kScatterColumns; ++c)
      if (c < columns.count) sums[c] = y[columns.y[c]];
    for (uint32_t i = mine; i < n; i += kScatterThreads) {  // the first that is found is `mine`
      const uint32_t other = i + threadIdx.x;
      const bool meets = other < n && destination<Index>(p, other) == to;
      if (!__syncthreads_or(meets)) continue;
      const uint32_t found = __ballot_sync(0xffffffffu, meets);
      if (threadIdx.x % 32 == 0) meeting[threadIdx.x / 32] = found;
      __syncthreads();
      for (uint32_t w = 0; w < kScatterThreads / 32; ++w)
        for (uint32_t bits = meeting[w]; bits != 0; bits &= bits - 1)
          take(i + 32 * w + static_cast<uint32_t>(__ffs(static_cast<int>(bits))) - 1);
      __syncthreads();  // the words are written again
    }
  }
#pragma unroll
  for (int c = 0; c < kScatterColumns; ++c)
    if (c < columns.count) y[columns.y[c]] = sums[c];
}
