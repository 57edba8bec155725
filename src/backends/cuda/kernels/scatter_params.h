// scatter_params.h: the parameters of scatters, shared by host and device. Strides count elements.
#pragma once

#include "elementwise_params.h"
#include "index_fault.h"

namespace tw::cuda {

inline constexpr int kScatterThreads = 128;
/// Columns that a thread of the scatter by coordinates holds at once.
inline constexpr int kScatterColumns = 2;

enum class ScatterCombine {
  kReplace,
  kAdd,
  kMul,
  kMin,
  kMax
};

/// y[c with index[c] at the axis] = updates[c]. `dims` are those of index but for the axis, whose
/// coordinate runs fastest.
struct ScatterElementsParams {
  void* y;
  const void* index;
  const void* updates;
  long long n;       // updates
  long long n_axis;  // of them in a line
  Divider axis;
  int rank;
  Divider dims[7];
  long long y_strides[7], index_strides[7], update_strides[7];
  long long extent, y_axis, index_axis, update_axis;
  IndexCheck check;
};

/// y[index[j.., :].., k..] = updates[j.., k..]. An update is a row of `n_columns` elements.
struct ScatterNdParams {
  void* y;
  const void* index;
  const void* updates;
  long long n;  // updates
  int rank;     // dims of j
  Divider dims[8];
  long long index_strides[8], update_strides[8];
  int depth;  // numbers in a tuple of index
  long long tuple_stride;
  long long extents[8], steps[8];
  long long n_columns;
  int column_rank;
  Divider column_dims[8];
  long long y_columns[8], update_columns[8];
  IndexCheck check;
};

}  // namespace tw::cuda
