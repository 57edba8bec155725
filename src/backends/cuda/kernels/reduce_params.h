// reduce_params.h: the parameters of the reduce kernels.
#pragma once

#ifdef __CUDACC_RTC__
#include <reduce_nest.h>
#else
#include "backends/cuda/kernels/reduce_nest.h"
#endif

namespace tw::cuda {

/// The numbers of task::ReduceTask::Kind.
enum class ReduceKind {
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kSumSquare,
  kSumAbs,
  kL2,
  kLogSumExp,
  kLogSum,
  kArgMax,
  kArgMin,
  kAny,
  kAll
};

/// Rows: x's fastest dim is reduced. A row of y is made of `n_runs` runs of x, each of `n_run`
/// elements `x_step` apart.
struct ReduceRowsParams {
  const void* x;
  void* y;
  Nest<2> rows;  // x, y
  Nest<1> runs;  // x
  long long x_step;
  long long empty;     // of integers: what an extreme of no elements is
  Divisor run_chunks;  // chunks of a run
  int n_rows, n_runs, n_run;
  int team;     // threads a row and block
  int cluster;  // blocks a row
};

/// Columns: x's fastest dim is kept. A column is made of `n_rows` elements of x.
struct ReduceColumnsParams {
  const void* x;
  void* y;
  Nest<2> groups;  // x, y: the kept dims but the columns
  Nest<1> rows;    // x
  long long x_step, y_step;
  long long empty;
  Divisor column_blocks;  // blocks beside each other along the columns of one group
  int n_rows, n_columns;
  int threads_x;  // threads of a block along the columns, each with a chunk
  int threads_y;  // threads of a block along the rows
  int cluster;    // blocks along the rows
};

/// Threads of a block, both ways together.
inline constexpr int kColumnThreads = 256;

}  // namespace tw::cuda
