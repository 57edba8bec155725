// softmax_params.h: the parameters of a softmax kernel.
#pragma once

#ifdef __CUDACC_RTC__
#include <reduce_nest.h>
#else
#include "backends/cuda/kernels/reduce_nest.h"
#endif

namespace tw::cuda {

struct SoftmaxParams {
  const void* x;             // (rows, cols)
  void* y;                   // (rows, cols)
  Nest<2> rows;              // x, y
  long long x_step, y_step;  // from column to column
  int n_rows, n_cols;
  int team;  // threads a row
};

}  // namespace tw::cuda
