// pool.cuh: windows over channels-last images; a thread makes a chunk of the channels of a pixel.
#pragma once

#include <pool_params.h>
#include <reduce_team.cuh>

namespace tw::cuda {

/// The taps [first, last) of a window along one dim that lie inside the input; tap 0 is at element
/// `start`.
struct PoolTaps {
  int start, first, last;
};

/// How many taps lie below element `limit`.
TW_DEVICE int taps_below(const PoolParams& p, int d, int start, int limit) {
  const int room = limit - start;
  if (room <= 0) return 0;
  return min(p.kernel[d], static_cast<int>(divide(room - 1, p.dilation[d])) + 1);
}

TW_DEVICE PoolTaps pool_taps(const PoolParams& p, int d, int o) {
  const int start = o * p.stride[d] - p.pad[d];
  return {start, taps_below(p, d, start, 0), taps_below(p, d, start, p.in[d])};
}

/// How many taps along one dim an average divides by.
TW_DEVICE int counted_taps(const PoolParams& p, int d, const PoolTaps& taps) {
  if (p.count_padding == 0) return taps.last - taps.first;
  return taps_below(p, d, taps.start, p.in[d] + p.pad_end[d]) -
         taps_below(p, d, taps.start, -p.pad[d]);
}

template <class L>
TW_DEVICE L lowest() {
  if constexpr (kSame<L, int64_t>)
    return static_cast<int64_t>(1ull << 63);
  else
    return -infinity<L>();
}

/// What a window comes to so far, by channel of the chunk.
template <class T, bool kMax>
struct PoolWindow {
  using L = Lane<T>;
  static constexpr int W = kChunk<T>;
  L value[W];

  TW_DEVICE PoolWindow() {
#pragma unroll
    for (L& v : value) v = kMax ? lowest<L>() : L(0);
  }
  TW_DEVICE void take(const Pack<T, W>& chunk) {
#pragma unroll
    for (int j = 0; j < W; ++j) {
      const L x = to_lane(chunk.v[j]);
      if constexpr (kMax)
        value[j] = x > value[j] || x != x ? x : value[j];
      else
        value[j] += x;
    }
  }
};

/// The taps of one plane (along the last two dims), kRows x kTaps at a time: the loads of a batch
/// are in flight together.
template <int kRows, int kTaps, bool kWhole, class T, bool kMax>
TW_DEVICE void take_plane(const PoolParams& p, const T* plane, const PoolTaps& rows,
                          const PoolTaps& cols, int c, PoolWindow<T, kMax>& window) {
  constexpr int W = kChunk<T>;
  const auto load = [&](int b, int t) {
    const int64_t row = rows.start + b * static_cast<int>(p.dilation[1].divisor);
    const int64_t col = cols.start + t * static_cast<int>(p.dilation[2].divisor);
    return load_chunk<W, kWhole>(plane + row * p.x_strides[2] + col * p.x_strides[3], p.x_step, c,
                                 p.n_channels);
  };
#pragma unroll 1
  for (int b0 = rows.first; b0 < rows.last; b0 += kRows) {
#pragma unroll 1
    for (int t0 = cols.first; t0 < cols.last; t0 += kTaps) {
      Pack<T, W> chunks[kRows][kTaps];
#pragma unroll
      for (int b = 0; b < kRows; ++b)
#pragma unroll
        for (int t = 0; t < kTaps; ++t)
          chunks[b][t] = load(b0 + b < rows.last ? b0 + b : b0, t0 + t < cols.last ? t0 + t : t0);
#pragma unroll
      for (int b = 0; b < kRows; ++b)
#pragma unroll
        for (int t = 0; t < kTaps; ++t)
          if (b0 + b < rows.last && t0 + t < cols.last) window.take(chunks[b][t]);
    }
  }
}

template <class Tx, class Ty, bool kMax, int kRows, int kTaps, bool kWhole>
TW_DEVICE void pool(const PoolParams& p) {
  using L = Lane<Tx>;
  constexpr int W = kChunk<Tx>;
  let_next_start();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned pixel = divide(thread, p.chunks);
  const int c = static_cast<int>(thread - pixel * p.chunks.divisor) * W;
  const unsigned row = divide(pixel, p.out[2]), plane = divide(row, p.out[1]);
  const unsigned image = divide(plane, p.out[0]);
  const int o[3] = {static_cast<int>(plane - image * p.out[0].divisor),
                    static_cast<int>(row - plane * p.out[1].divisor),
                    static_cast<int>(pixel - row * p.out[2].divisor)};
  const PoolTaps taps[3] = {pool_taps(p, 0, o[0]), pool_taps(p, 1, o[1]), pool_taps(p, 2, o[2])};
  int counted = 1;
#pragma unroll
  for (int d = 0; d < 3; ++d) counted *= counted_taps(p, d, taps[d]);
  // A window that counts no tap has the sum 0, whatever divides it.
  const L n = static_cast<L>(max(1, counted));
  wait_for_inputs();
  if (thread >= p.n_threads) return;

  const Tx* x = static_cast<const Tx*>(p.x) + image * p.x_strides[0];
  PoolWindow<Tx, kMax> window;
#pragma unroll 1
  for (int a = taps[0].first; a < taps[0].last; ++a) {
    const int64_t i = taps[0].start + a * static_cast<int>(p.dilation[0].divisor);
    take_plane<kRows, kTaps, kWhole>(p, x + i * p.x_strides[1], taps[1], taps[2], c, window);
  }
  Pack<Ty, W> y;
#pragma unroll
  for (int j = 0; j < W; ++j) y.v[j] = convert<Ty>(kMax ? window.value[j] : window.value[j] / n);
  store_chunk<W, kWhole>(static_cast<Ty*>(p.y) + image * p.y_strides[0] + o[0] * p.y_strides[1] +
                             o[1] * p.y_strides[2] + o[2] * p.y_strides[3],
                         p.y_step, c, p.n_channels, y);
}

}  // namespace tw::cuda
