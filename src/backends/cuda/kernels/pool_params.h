// pool_params.h: the parameters of a pool kernel.
#pragma once

#ifdef __CUDACC_RTC__
#include <reduce_nest.h>
#else
#include "backends/cuda/kernels/reduce_nest.h"
#endif

namespace tw::cuda {

/// Three spatial dims; missing ones come first and have one element and one tap.
struct PoolParams {
  const void* x;                         // (n, in, channels)
  void* y;                               // (n, out, channels)
  long long x_strides[4], y_strides[4];  // n, spatial
  long long x_step, y_step;              // from channel to channel
  int in[3], kernel[3], stride[3], pad[3], pad_end[3];
  Divisor dilation[3];
  Divisor out[3];
  Divisor chunks;  // chunks of channels of a pixel
  int n_channels;
  int n_threads;  // of all pixels
  int count_padding;
};

}  // namespace tw::cuda
