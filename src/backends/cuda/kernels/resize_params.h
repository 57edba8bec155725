// resize_params.h: the parameters of a resize kernel.
#pragma once

#ifdef __CUDACC_RTC__
#include <reduce_nest.h>
#else
#include "backends/cuda/kernels/reduce_nest.h"
#endif

namespace tw::cuda {

/// The numbers of task::ResizeTask::Nearest.
enum class ResizeNearest {
  kRoundPreferFloor,
  kRoundPreferCeil,
  kFloor,
  kCeil
};

/// One spatial dim. Output coordinate o reads around input coordinate
/// (o + shift) * factor / divisor + offset - back, each step rounded to double.
struct ResizeDim {
  double shift, factor, divisor, offset, back;
  long long x_stride, y_stride;
  int in;
};

/// Three spatial dims; missing ones come first and have one element.
struct ResizeParams {
  const void* x;  // (n, in, channels)
  void* y;        // (n, out, channels)
  ResizeDim dims[3];
  double cubic_a;
  long long x_stride, y_stride;  // from image to image
  long long x_step, y_step;      // from channel to channel
  Divisor out[2];                // of the first two dims
  Divisor blocks;                // along the last dim
  Divisor chunks;                // chunks of channels of a pixel
  int n_last;                    // output coordinates of the last dim
  int n_pixels;                  // of them a block makes
  int n_channels;
  ResizeNearest nearest;
  int exclude_outside;
};

/// The most pixels of a block.
inline constexpr int kResizePixels = 128;

}  // namespace tw::cuda
