// window.cpp: depthwise convolution and pooling over NHWC rows behind pointers: vectors run along
// channels, and each output is one chain over the taps in order.
#include "backends/cpu/kernels/tables.h"
#include "backends/cpu/kernels/vec/vec.h"

namespace tw::cpu::TW_ISA {
namespace {

// A tile shares what it reads of the weights between its rows; its sums are half of the registers.
constexpr int kWindowRows = kLanes == 16 ? 4 : 2;
constexpr int kWindowVectors = 4;

F32 load_part(const float* p, int64_t count) {
  return count >= kLanes ? load(p) : load_n(p, count);
}

/// R rows from `row` by V vectors of channels from `channel`, `count` of them inside. op.start() is
/// the first value, op.step(sum, x, w) follows each tap with w = op.tap_vector(tap, channel),
/// op.finish(sum, row, w) is stored.
template <int R, int V, class Op>
void window_tile(const WindowArgs& args, int64_t row, int64_t channel, int64_t count,
                 const Op& op) {
  F32 sum[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) sum[r][v] = op.start();
  }
  const float* const* x = args.x + row;
  for (int64_t tap = 0; tap < args.n_taps; ++tap, x += args.x_stride) {
    for (int v = 0; v < V; ++v) {
      const int64_t c = channel + v * kLanes, left = count - v * kLanes;
      const F32 w = op.tap_vector(tap, c, left);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r][v] = op.step(sum[r][v], load_part(x[r] + c, left), w);
    }
  }
  for (int v = 0; v < V; ++v) {
    const int64_t c = channel + v * kLanes, left = count - v * kLanes;
    for (int r = 0; r < R; ++r) {
      const F32 y = op.finish(sum[r][v], row + r, c, left);
      float* to = args.y + (row + r) * args.ldy + c;
      if (left >= kLanes) {
        store(to, y);
      } else {
        store_n(to, y, left);
      }
    }
  }
}

template <int R, class Op>
void window_rows(const WindowArgs& args, int64_t row, const Op& op) {
  constexpr int64_t kBlock = kWindowVectors * kLanes;
  int64_t c = 0;
  for (; c + kBlock <= args.channels; c += kBlock) {
    window_tile<R, kWindowVectors>(args, row, c, kBlock, op);
  }
  for (; c + kLanes <= args.channels; c += kLanes) window_tile<R, 1>(args, row, c, kLanes, op);
  if (c < args.channels) window_tile<R, 1>(args, row, c, args.channels - c, op);
}

template <class Op>
void window(const WindowArgs& args, const Op& op) {
  int64_t row = 0;
  for (; row + kWindowRows <= args.rows; row += kWindowRows) {
    window_rows<kWindowRows>(args, row, op);
  }
  for (; row < args.rows; ++row) window_rows<1>(args, row, op);
}

struct DepthwiseOp {
  const float* weights;
  const float* bias;
  int64_t channels;
  F32 start() const { return zero(); }
  F32 tap_vector(int64_t tap, int64_t c, int64_t left) const {
    return load_part(weights + tap * channels + c, left);
  }
  F32 step(F32 sum, F32 x, F32 w) const { return fma(x, w, sum); }
  F32 finish(F32 sum, int64_t, int64_t c, int64_t left) const {
    return bias != nullptr ? add(sum, load_part(bias + c, left)) : sum;
  }
};

struct MaxOp {
  F32 start() const { return set1(-__builtin_inff()); }
  F32 tap_vector(int64_t, int64_t, int64_t) const { return zero(); }
  F32 step(F32 sum, F32 x, F32) const { return max_nan(sum, x); }
  F32 finish(F32 sum, int64_t, int64_t, int64_t) const { return sum; }
};

struct AverageOp {
  const float* divisors;
  F32 start() const { return zero(); }
  F32 tap_vector(int64_t, int64_t, int64_t) const { return zero(); }
  F32 step(F32 sum, F32 x, F32) const { return add(sum, x); }
  F32 finish(F32 sum, int64_t row, int64_t, int64_t) const { return div(sum, set1(divisors[row])); }
};

}  // namespace

void depthwise(const WindowArgs& args, const float* weights, const float* bias) {
  window(args, DepthwiseOp{weights, bias, args.channels});
}

void max_pool(const WindowArgs& args) { window(args, MaxOp{}); }

void avg_pool(const WindowArgs& args, const float* divisors) { window(args, AverageOp{divisors}); }

}  // namespace tw::cpu::TW_ISA
