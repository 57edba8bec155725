// reduce_kinds.cuh: what each kind of reduction does with elements, as a struct Reduction:
//   State             what a part of the elements comes to
//   start(empty)      of no elements
//   of(x, i)          of element x, the i-th
//   join(a, b)        of both parts
//   finish(s, n)      the result of n elements
#pragma once

#include <reduce_params.h>
#include <reduce_team.cuh>

namespace tw::cuda {

template <class L>
inline constexpr bool kIsFloat = kSame<L, float> || kSame<L, double>;

template <class L>
TW_DEVICE bool is_finite(L x) {
  return x - x == 0;
}

// Integers wrap: the arithmetic of the language is defined for unsigned ones only.
template <class L>
TW_DEVICE L add(L a, L b) {
  if constexpr (kIsFloat<L>)
    return a + b;
  else
    return static_cast<L>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <class L>
TW_DEVICE L multiply(L a, L b) {
  if constexpr (kIsFloat<L>)
    return a * b;
  else
    return static_cast<L>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class L>
TW_DEVICE L magnitude(L x) {
  if constexpr (kIsFloat<L>)
    return fabs(x);
  else
    return x < 0 ? static_cast<L>(0 - static_cast<uint64_t>(x)) : x;
}

/// Sums, products and extremes: a state is a number.
template <ReduceKind kKind, class L, bool kLast>
struct Reduction {
  using State = L;
  static constexpr bool kIsExtreme = kKind == ReduceKind::kMax || kKind == ReduceKind::kMin;

  static TW_DEVICE State start(int64_t empty) {
    if constexpr (kIsExtreme && kIsFloat<L>)
      return kKind == ReduceKind::kMax ? -infinity<L>() : infinity<L>();
    else if constexpr (kIsExtreme)
      return static_cast<L>(empty);
    else
      return kKind == ReduceKind::kProd ? 1 : 0;
  }
  static TW_DEVICE State of(L x, int) {
    if constexpr (kKind == ReduceKind::kSumSquare || kKind == ReduceKind::kL2)
      return multiply(x, x);
    if constexpr (kKind == ReduceKind::kSumAbs) return magnitude(x);
    return x;
  }
  static TW_DEVICE State join(State a, State b) {
    if constexpr (kKind == ReduceKind::kMax) return a > b || a != a ? a : b;
    if constexpr (kKind == ReduceKind::kMin) return a < b || a != a ? a : b;
    if constexpr (kKind == ReduceKind::kProd) return multiply(a, b);
    return add(a, b);
  }
  static TW_DEVICE L finish(State s, int64_t n) {
    if constexpr (kKind == ReduceKind::kMean) {
      if constexpr (kIsFloat<L>) return s / static_cast<L>(n);
      return n == 0 ? 0 : s / static_cast<L>(n);
    }
    if constexpr (kKind == ReduceKind::kL2) return sqrt(s);
    if constexpr (kKind == ReduceKind::kLogSum) return log(s);
    return s;
  }
};

template <class L, bool kLast>
struct Reduction<ReduceKind::kAny, L, kLast> {
  using State = int;
  static TW_DEVICE State start(int64_t) { return 0; }
  static TW_DEVICE State of(L x, int) { return x != 0 ? 1 : 0; }
  static TW_DEVICE State join(State a, State b) { return a | b; }
  static TW_DEVICE int64_t finish(State s, int64_t) { return s; }
};

template <class L, bool kLast>
struct Reduction<ReduceKind::kAll, L, kLast> {
  using State = int;
  static TW_DEVICE State start(int64_t) { return 1; }
  static TW_DEVICE State of(L x, int) { return x != 0 ? 1 : 0; }
  static TW_DEVICE State join(State a, State b) { return a & b; }
  static TW_DEVICE int64_t finish(State s, int64_t) { return s; }
};

/// sum is that of exp(x - shift(high)).
template <class L>
struct Exponentials {
  L high, sum;
};

template <class L, bool kLast>
struct Reduction<ReduceKind::kLogSumExp, L, kLast> {
  using State = Exponentials<L>;

  /// Infinities stand for themselves: one less itself would be NaN.
  static TW_DEVICE L shift(L high) { return is_finite(high) ? high : 0; }
  static TW_DEVICE State start(int64_t) { return {-infinity<L>(), 0}; }
  static TW_DEVICE State of(L x, int) { return {x, is_finite(x) ? 1 : exp(x)}; }
  static TW_DEVICE L part(State s, L to) {
    return s.sum == 0 ? 0 : s.sum * exp(shift(s.high) - to);
  }
  static TW_DEVICE State join(State a, State b) {
    const L high = LargerOrNan{}(a.high, b.high), to = shift(high);
    return {high, part(a, to) + part(b, to)};
  }
  static TW_DEVICE L finish(State s, int64_t) { return log(s.sum) + shift(s.high); }
};

/// The best element so far; index -1: none. NaN beats every number.
template <class L>
struct Place {
  L value;
  int index;
};

template <bool kMax, class L, bool kLast>
struct ArgReduction {
  using State = Place<L>;
  static TW_DEVICE State start(int64_t) { return {0, -1}; }
  static TW_DEVICE State of(L x, int i) { return {x, i}; }
  static TW_DEVICE State join(State a, State b) {
    if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (a_nan || a.value == b.value) return (a.index < b.index) != kLast ? a : b;
    return (a.value > b.value) == kMax ? a : b;
  }
  static TW_DEVICE int64_t finish(State s, int64_t) { return s.index < 0 ? 0 : s.index; }
};
template <class L, bool kLast>
struct Reduction<ReduceKind::kArgMax, L, kLast> : ArgReduction<true, L, kLast> {};
template <class L, bool kLast>
struct Reduction<ReduceKind::kArgMin, L, kLast> : ArgReduction<false, L, kLast> {};

/// Where a chunk of x is: its dim's first element, and its own place along the dim.
template <class T>
struct ChunkPlace {
  const T* line;
  int i;
};

/// Chunks first, first + step .. below n, by their places: take(chunk, i, c) for each in order. The
/// loads of a batch are in flight together.
template <int kBatch, bool kWhole, class T, class Place, class Take>
TW_DEVICE void for_each_chunk(unsigned first, unsigned step, unsigned n, int64_t x_step, int n_line,
                              Place place, Take take) {
  constexpr int W = kChunk<T>;
#pragma unroll 1
  for (unsigned c = first; c < n; c += kBatch * step) {
    Pack<T, W> chunks[kBatch];
    int i[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      const unsigned it = c + b * step;
      const ChunkPlace<T> at = place(it < n ? it : c);
      i[b] = at.i;
      chunks[b] = load_chunk<W, kWhole>(at.line, x_step, at.i, n_line);
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b)
      if (c + b * step < n) take(chunks[b], i[b], c + b * step);
  }
}

/// How many chunks are in flight: as many as leave room for the states.
template <class State, bool kWhole, int W>
inline constexpr int kBatch = !kWhole             ? (W == 8 ? 1 : 2)
                              : sizeof(State) > 4 ? 4
                                                  : 8;

}  // namespace tw::cuda
