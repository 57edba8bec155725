// copy_params.h: the parameters of the transposing copy, shared by host and device.
#pragma once

#include "elementwise_params.h"

namespace tw::cuda {

/// A tile is a square with sides of 128 bytes: what a warp reads or writes of a row is whole lines.
inline constexpr int kTileBytes = 128;
inline constexpr int kTransposeThreads = 128;

/// Planes of `a` x `b` elements: x is contiguous along a, y along b. The dims in front of a plane
/// stand in `outer`; strides count elements.
struct TransposeParams {
  const void* x;
  void* y;
  long long a, b;
  long long x_b, y_a;
  Divider tiles_a, tiles_b;
  int n_outer;
  int whole_x, whole_y;  // whether 16 bytes of a row can be read, written as one
  Divider outer[6];
  long long x_outer[6], y_outer[6];
};

}  // namespace tw::cuda
