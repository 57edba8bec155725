// gather_params.h: the parameters of gathers, shared by host and device.
#pragma once

#include "elementwise_params.h"
#include "index_fault.h"

namespace tw::cuda {

/// A loop over the result: operands x, index, result. An index is a tuple of `depth` numbers,
/// `tuple_stride` apart; number d, in [-extents[d], extents[d]), moves x by steps[d] elements.
template <int kOuter, class Stride>
struct GatherParams : LoopParams<kOuter, Stride> {
  int depth;
  long long tuple_stride;
  long long extents[8], steps[8];
  IndexCheck check;
};

}  // namespace tw::cuda
