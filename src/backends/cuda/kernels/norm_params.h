// norm_params.h: the parameters of a norm kernel.
#pragma once

#ifdef __CUDACC_RTC__
#include <reduce_nest.h>
#else
#include "backends/cuda/kernels/reduce_nest.h"
#endif

namespace tw::cuda {

struct NormParams {
  const void* x;                                    // (rows, cols)
  const void* scale;                                // (cols), or null
  const void* bias;                                 // (cols), or null
  void* y;                                          // (rows, cols)
  void* mean;                                       // (rows), or null
  void* inv_std;                                    // (rows), or null
  Nest<4> rows;                                     // x, y, mean, inv_std
  long long x_step, scale_step, bias_step, y_step;  // from column to column
  int n_rows, n_cols;
  int team;                   // threads a row
  int warm_scale, warm_bias;  // immutable and side by side: fetched before the inputs are there
  float eps;
};

}  // namespace tw::cuda
