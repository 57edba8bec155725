// depthwise.cuh: convolutions with one input channel a group: a thread computes kVector
// neighbouring channels of kStrip neighbouring pixels of a row. Each sum runs over the taps in
// order.
#pragma once

/// What a kernel of this family is specialised on. kernel 0: any window, one pixel at a time.
struct DepthwiseConfig {
  int kernel_y, kernel_x, stride_x;  // two spatial dims, dilation 1 along x
  int strip, vector;
  Access x, w;  // of neighbouring channels
  TW_DEVICE constexpr int columns() const { return (strip - 1) * stride_x + kernel_x; }
};

/// kN channels from c on of an operand whose channels are `stride` elements apart, `multiplier`
/// channels of the result to one.
template <class T, Access kAccess, int kN>
TW_DEVICE void read_channels(Columns<T, kN>& out, const T* at, int c, int64_t stride,
                             int multiplier) {
  if constexpr (kAccess == Access::kVector) {
    out.load(at + c);
  } else {
#pragma unroll
    for (int i = 0; i < kN; ++i) out[i] = at[(c + i) / multiplier * stride];
  }
}

template <class T, int kN>
TW_DEVICE void add_products(float (&sums)[kN], Columns<T, kN>& x, Columns<T, kN>& w) {
#pragma unroll
  for (int i = 0; i < kN; ++i) sums[i] = fmaf(to_float(x[i]), to_float(w[i]), sums[i]);
}

/// Any window; `corner` is that of the pixel.
template <class T, DepthwiseConfig kCfg, class Params>
TW_DEVICE void sum_taps(const Params& p, const Corner& corner, int c,
                        float (&sums)[kCfg.strip][kCfg.vector]) {
  const WindowParams& w = p.window;
  const T* image = static_cast<const T*>(p.x) + corner.offset(w);
  for (Tap tap(w, 0); tap.inside(w); tap.next_tap(w)) {
    if (!corner.covers(w, tap)) continue;
    Columns<T, kCfg.vector> x, weight;
    read_channels<T, kCfg.x>(x, image + tap.offset(w), c, w.x_channel, p.multiplier);
    read_channels<T, kCfg.w>(weight,
                             static_cast<const T*>(p.w) + tap.z * p.w_taps[0] +
                                 tap.y * p.w_taps[1] + tap.x * p.w_taps[2],
                             c, p.w_channel, 1);
    add_products(sums[0], x, weight);
  }
}

/// A window known at compile time: every column of x is read once for all pixels of the strip.
template <class T, DepthwiseConfig kCfg, class Params>
TW_DEVICE void sum_rows(const Params& p, const Corner& corner, int c,
                        float (&sums)[kCfg.strip][kCfg.vector]) {
  const WindowParams& w = p.window;
  const T* image = static_cast<const T*>(p.x) + corner.offset(w);
#pragma unroll
  for (int ky = 0; ky < kCfg.kernel_y; ++ky) {
    const int dy = ky * w.dilation[1];
    if (static_cast<uint32_t>(corner.y + dy) >= static_cast<uint32_t>(w.in[1])) continue;
    Columns<T, kCfg.vector> x[kCfg.columns()];
#pragma unroll
    for (int j = 0; j < kCfg.columns(); ++j) {
      x[j] = {};
      if (static_cast<uint32_t>(corner.x + j) < static_cast<uint32_t>(w.in[2]))
        read_channels<T, kCfg.x>(x[j], image + dy * w.x_space[1] + j * w.x_space[2], c, w.x_channel,
                                 p.multiplier);
    }
#pragma unroll
    for (int kx = 0; kx < kCfg.kernel_x; ++kx) {
      Columns<T, kCfg.vector> weight;
      read_channels<T, kCfg.w>(weight,
                               static_cast<const T*>(p.w) + ky * p.w_taps[1] + kx * p.w_taps[2], c,
                               p.w_channel, 1);
#pragma unroll
      for (int i = 0; i < kCfg.strip; ++i) add_products(sums[i], x[i * kCfg.stride_x + kx], weight);
    }
  }
}

template <class T, DepthwiseConfig kCfg, class Epilogue, class Params>
TW_DEVICE void run_depthwise(const Params& p) {
  let_next_start();
  const int64_t item = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  wait_for_inputs();
  if (item >= p.n_items) return;
  const int vectors = p.n / kCfg.vector;
  const uint32_t strip = static_cast<uint32_t>(item / vectors);
  const int c = static_cast<int>(item - static_cast<int64_t>(strip) * vectors) * kCfg.vector;
  const uint32_t line = strip / static_cast<uint32_t>(p.strips);
  const int first = static_cast<int>(strip - line * p.strips) * kCfg.strip;
  const uint32_t pixel = line * p.window.out[2] + first;
  const Corner corner(p.window, pixel);
  float sums[kCfg.strip][kCfg.vector] = {};
  if constexpr (kCfg.kernel_y > 0)
    sum_rows<T, kCfg>(p, corner, c, sums);
  else
    sum_taps<T, kCfg>(p, corner, c, sums);
  const int none[kMaxBatchDims] = {};
  Epilogue epilogue(p, Batch<0>(none, 0), c);
#pragma unroll
  for (int i = 0; i < kCfg.strip; ++i) {
    if (first + i >= p.window.out[2]) break;
    epilogue.load(pixel + i);
    epilogue.store(pixel + i, sums[i]);
  }
}
