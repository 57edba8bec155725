// resize.cuh: channels-last images resampled. A block makes a run of pixels along the last dim. It
// works out once which inputs each of its coordinates reads and by what weights, in double and
// step by step as the CPU does, so that both choose the same elements; that needs no input and is
// done while the kernel before this one still runs.
#pragma once

#include <resize_params.h>
#include <reduce_team.cuh>

namespace tw::cuda {

/// What an output coordinate reads along one dim.
template <class L, int kTaps>
struct ResizeTaps {
  int64_t offset[kTaps];  // elements from coordinate 0
  L weight[kTaps];
};

TW_DEVICE double source_of(const ResizeDim& dim, int o) {
  return (o + dim.shift) * dim.factor / dim.divisor + dim.offset - dim.back;
}

TW_DEVICE int64_t clamp_to(const ResizeDim& dim, double i) {
  return min(max(static_cast<int64_t>(i), 0ll), dim.in - 1ll);
}

TW_DEVICE double nearest_to(ResizeNearest mode, double x) {
  switch (mode) {
    case ResizeNearest::kRoundPreferFloor:
      return ceil(x - 0.5);
    case ResizeNearest::kRoundPreferCeil:
      return floor(x + 0.5);
    case ResizeNearest::kFloor:
      return floor(x);
    case ResizeNearest::kCeil:
      return ceil(x);
  }
  return x;
}

// Products by __dmul_rn are not contracted with the sums around them.
TW_DEVICE double cubic_near(double a, double d) {
  const double linear = __dmul_rn(a + 2, d) - (a + 3);
  return __dmul_rn(__dmul_rn(linear, d), d) + 1;
}
TW_DEVICE double cubic_far(double a, double d) {
  const double linear = __dmul_rn(a, d) - __dmul_rn(5, a);
  return __dmul_rn(__dmul_rn(linear, d) + __dmul_rn(8, a), d) - __dmul_rn(4, a);
}

/// The weights of the neighbours around a fraction t in [0, 1).
TW_DEVICE void set_weights(double, double t, double (&weights)[2]) {
  weights[0] = 1 - t;
  weights[1] = t;
}
TW_DEVICE void set_weights(double a, double t, double (&weights)[4]) {
  weights[0] = cubic_far(a, 1 + t);
  weights[1] = cubic_near(a, t);
  weights[2] = cubic_near(a, 1 - t);
  weights[3] = cubic_far(a, 2 - t);
}

template <class L, int kTaps>
TW_DEVICE ResizeTaps<L, kTaps> taps_of(const ResizeParams& p, const ResizeDim& dim, int o) {
  ResizeTaps<L, kTaps> taps;
  const double x = source_of(dim, o);
  if constexpr (kTaps == 1) {
    taps.offset[0] = clamp_to(dim, nearest_to(p.nearest, x)) * dim.x_stride;
    taps.weight[0] = 1;
    return taps;
  } else {
    const double low = floor(x), first = kTaps == 4 ? low - 1 : low;
    double weights[kTaps], sum = 0;
    set_weights(p.cubic_a, x - low, weights);
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      const double at = first + t;
      if (p.exclude_outside != 0 && (at < 0 || at >= dim.in)) weights[t] = 0;
      taps.offset[t] = clamp_to(dim, at) * dim.x_stride;
      sum += weights[t];
    }
    bool is_one = false;  // the element of tap 0 as it is
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      const double weight = p.exclude_outside != 0 ? weights[t] / sum : weights[t];
      if (t == 0) is_one = weight == 1;
      taps.weight[t] = t > 0 && is_one ? 0 : static_cast<L>(weight);
    }
    return taps;
  }
}

TW_DEVICE float product(float a, float b) { return __fmul_rn(a, b); }
TW_DEVICE double product(double a, double b) { return __dmul_rn(a, b); }

/// Where a block's output is, and how the dims before the last are read.
template <class L, int kTaps>
struct ResizeRun {
  int64_t x, y;  // image, and row of the output
  int first, n;  // pixels

  /// Fills taps[0], taps[1] for the dims before the last and taps[2 ..] for the pixels.
  TW_DEVICE ResizeRun(const ResizeParams& p, ResizeTaps<L, kTaps>* taps) {
    const unsigned row = divide(blockIdx.x, p.blocks), plane = divide(row, p.out[1]);
    const unsigned image = divide(plane, p.out[0]);
    const int o[2] = {static_cast<int>(plane - image * p.out[0].divisor),
                      static_cast<int>(row - plane * p.out[1].divisor)};
    first = static_cast<int>(blockIdx.x - row * p.blocks.divisor) * p.n_pixels;
    n = min(p.n_pixels, p.n_last - first);
    x = image * p.x_stride;
    y = image * p.y_stride + o[0] * p.dims[0].y_stride + o[1] * p.dims[1].y_stride +
        first * p.dims[2].y_stride;
    for (int t = threadIdx.x; t < n + 2; t += blockDim.x)
      taps[t] = taps_of<L, kTaps>(p, p.dims[min(t, 2)],
                                  t == 0   ? o[0]
                                  : t == 1 ? o[1]
                                           : first + t - 2);
    __syncthreads();
  }
};

/// Calls body(pixel of the run, first channel of a chunk) for all of the run.
template <int W, class Body>
TW_DEVICE void for_each_chunk_of(const ResizeParams& p, int n_pixels, Body body) {
  const int n_chunks = static_cast<int>(p.chunks.divisor);
#pragma unroll 1
  for (int item = threadIdx.x; item < n_pixels * n_chunks; item += blockDim.x) {
    const int pixel = divide(item, p.chunks);
    body(pixel, (item - pixel * n_chunks) * W);
  }
}

/// Moves elements, whatever they are: T has their size.
template <class T, bool kWhole>
TW_DEVICE void resize_nearest(const ResizeParams& p) {
  constexpr int W = kChunk<T>;
  __shared__ ResizeTaps<float, 1> taps[2 + kResizePixels];
  let_next_start();
  const ResizeRun<float, 1> run(p, taps);
  wait_for_inputs();
  const T* x = static_cast<const T*>(p.x) + run.x + taps[0].offset[0] + taps[1].offset[0];
  T* y = static_cast<T*>(p.y) + run.y;
  for_each_chunk_of<W>(p, run.n, [&](int pixel, int c) {
    const Pack<T, W> chunk =
        load_chunk<W, kWhole>(x + taps[2 + pixel].offset[0], p.x_step, c, p.n_channels);
    store_chunk<W, kWhole>(y + pixel * p.dims[2].y_stride, p.y_step, c, p.n_channels, chunk);
  });
}

/// Blends dim kDim of what blending the dims from kFirst up to it gives, as the CPU does: products
/// and sums are rounded one by one, taps of weight 0 but the first are left out.
template <int kDim, int kFirst, bool kWhole, class T, class L, int kTaps, int W>
TW_DEVICE void blend(const ResizeParams& p, const T* x,
                     const ResizeTaps<L, kTaps>* const (&taps)[3], int c, L (&value)[W]) {
  if constexpr (kDim < kFirst) {
    const Pack<T, W> chunk = load_chunk<W, kWhole>(x, p.x_step, c, p.n_channels);
#pragma unroll
    for (int j = 0; j < W; ++j) {
      if constexpr (kSame<Lane<T>, int64_t>)
        value[j] = static_cast<L>(chunk.v[j]);
      else
        value[j] = to_lane(chunk.v[j]);
    }
  } else {
    // 64 chunks at once would take all registers, and so would 16 that are loaded by elements.
    constexpr bool kIsMuch = kWhole ? kDim == 2 && kFirst == 0 : kDim > kFirst;
    constexpr int kAtOnce = kTaps == 4 && kIsMuch ? 1 : kTaps;
#pragma unroll kAtOnce
    for (int t = 0; t < kTaps; ++t) {
      L part[W];
      blend<kDim - 1, kFirst, kWhole>(p, x + taps[kDim]->offset[t], taps, c, part);
      const L weight = taps[kDim]->weight[t];
#pragma unroll
      for (int j = 0; j < W; ++j) {
        const L term = product(part[j], weight);
        value[j] = t == 0 ? term : weight != 0 ? value[j] + term : value[j];
      }
    }
  }
}

template <class Tx, class Ty, int kTaps, int kSpatial, bool kWhole>
TW_DEVICE void resize_blend(const ResizeParams& p) {
  using L = decltype(Lane<Tx>() * 1.0f);  // integers are blended as f32
  constexpr int W = kChunk<Tx>;
  __shared__ ResizeTaps<L, kTaps> taps[2 + kResizePixels];
  let_next_start();
  const ResizeRun<L, kTaps> run(p, taps);
  wait_for_inputs();
  const Tx* x = static_cast<const Tx*>(p.x) + run.x;
  Ty* y = static_cast<Ty*>(p.y) + run.y;
  for_each_chunk_of<W>(p, run.n, [&](int pixel, int c) {
    const ResizeTaps<L, kTaps>* const of[3] = {&taps[0], &taps[1], &taps[2 + pixel]};
    L value[W];
    blend<2, 3 - kSpatial, kWhole>(p, x, of, c, value);
    Pack<Ty, W> chunk;
#pragma unroll
    for (int j = 0; j < W; ++j) chunk.v[j] = convert<Ty>(value[j]);
    store_chunk<W, kWhole>(y + pixel * p.dims[2].y_stride, p.y_step, c, p.n_channels, chunk);
  });
}

}  // namespace tw::cuda
