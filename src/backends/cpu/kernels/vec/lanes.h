// lanes.h: the fixed order of a reduction over a row: 32 lanes, element i in lane i % 32, then
// halves folded onto halves. The order depends on the length only and is the same in every
// instruction set.
#pragma once

#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {

static constexpr int kReduceLanes = 32;
static constexpr int kLaneVectors = kReduceLanes / kLanes;

/// Visits the row in order: body(v, x, n) for lane vector v, where the first n of its lanes hold
/// elements at `offset`. n is kLanes except at the end of the row.
template <class Body>
static inline void for_lanes(int64_t n, Body body) {
  int64_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes) {
#pragma GCC unroll 8
    for (int v = 0; v < kLaneVectors; ++v) body(v, i + v * kLanes, kLanes);
  }
  for (int v = 0; v < kLaneVectors && i < n; ++v, i += kLanes) {
    body(v, i, n - i < kLanes ? n - i : kLanes);
  }
}

/// Lane j with lane j + 16, then 8, 4, 2 and 1.
template <class Op>
static inline float fold(F32 (&lanes)[kLaneVectors], Op op) {
#pragma GCC unroll 4
  for (int half = kLaneVectors / 2; half > 0; half /= 2) {
    for (int v = 0; v < half; ++v) lanes[v] = op(lanes[v], lanes[v + half]);
  }
  F32 row = lanes[0];
  if constexpr (kLanes > 8) row = op(row, shift_down<kLanes / 2>(row));
  if constexpr (kLanes > 4) row = op(row, shift_down<4>(row));
  row = op(row, shift_down<2>(row));
  return first(op(row, shift_down<1>(row)));
}

/// The fold of f(x[i]) under op from `start`, which op must leave other values as they are.
template <class F, class Op>
static inline float reduce(const float* x, int64_t n, float start, F f, Op op) {
  F32 lanes[kLaneVectors];
  for (F32& lane : lanes) lane = set1(start);
  for_lanes(n, [&](int v, int64_t i, int64_t count) {
    if (count == kLanes) {
      lanes[v] = op(lanes[v], f(load(x + i)));
    } else {
      lanes[v] = select(first_mask(count), op(lanes[v], f(load_n(x + i, count))), lanes[v]);
    }
  });
  return fold(lanes, op);
}

}  // namespace tw::cpu::TW_ISA
