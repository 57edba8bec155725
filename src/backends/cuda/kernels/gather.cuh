// gather.cuh: loops of elementwise.cuh over the result of a gather, whose reads of x move by what
// index says. A tuple that is out of range reads nothing, gives zeros and is reported; that comes
// last, where no load waits behind it.
#pragma once

#include "copy.cuh"
#include "gather_params.h"
#include "index_fault.cuh"

struct Found {
  int64_t shift;  // elements of x
  bool in_range;
};

template <class Index, class Params>
TW_DEVICE Found find(const Params& p, const Index* tuple) {
  Found found{0, true};
#pragma unroll 1
  for (int d = 0; d < p.depth; ++d) {
    int64_t i = tuple[d * p.tuple_stride];
    if (i < 0) i += p.extents[d];
    found.in_range &= static_cast<uint64_t>(i) < static_cast<uint64_t>(p.extents[d]);
    found.shift += i * p.steps[d];
  }
  return found;
}

/// One tuple for the whole row: pieces of x move as they are. X and Y: how they are held.
template <class Index, class X, class Y, int kN>
struct RowGather {
  X x;
  bool in_range;
  template <class Params, class Where>
  TW_DEVICE void load(const Params& p, const Where& at) {
    const Found found = find(p, static_cast<const Index*>(p.data[1]) + at.row(p, 1));
    in_range = found.in_range;
    x = X{};
    if (found.in_range) x.load(p, 0, at, found.shift);
  }
  template <class Params, class Where>
  TW_DEVICE void finish(const Params& p, const Where& at) {
    Y y;
    move_piece(x, y, kN);
    y.store(p, 2, at);
    if (!in_range) report_tuple(p, static_cast<const Index*>(p.data[1]), at.row(p, 1));
  }
};

/// A tuple for every element, elements of type T.
template <class Index, class T, class Y, int kN>
struct ElementGather {
  T values[kN];
  bool in_range;
  template <class Params, class Where>
  TW_DEVICE void load(const Params& p, const Where& at) {
    const int64_t x_stride = p.strides[0][Params::kRow], stride = p.strides[1][Params::kRow];
    const T* x = static_cast<const T*>(p.data[0]) + at.row(p, 0) + at.col * x_stride;
    const Index* index = static_cast<const Index*>(p.data[1]) + at.row(p, 1) + at.col * stride;
    in_range = true;
#pragma unroll
    for (int i = 0; i < kN; ++i) {
      const Found found = find(p, index + i * stride);
      in_range &= found.in_range;
      values[i] = found.in_range ? x[i * x_stride + found.shift] : T{0};
    }
  }
  template <class Params, class Where>
  TW_DEVICE void finish(const Params& p, const Where& at) {
    Y y;
#pragma unroll
    for (int i = 0; i < kN; ++i) y.at(i) = values[i];
    y.store(p, 2, at);
    if (in_range) return;
    const int64_t stride = p.strides[1][Params::kRow], first = at.row(p, 1) + at.col * stride;
#pragma unroll 1
    for (int i = 0; i < kN; ++i)
      report_tuple(p, static_cast<const Index*>(p.data[1]), first + i * stride);
  }
};
