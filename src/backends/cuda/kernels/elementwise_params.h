// elementwise_params.h: loops over the elements of several operands at once, as the elementwise,
// copy and gather kernels run them: the parameters that host and device share.
//
// A loop has `kOuter` dims in front of its last one, the row. A row is cut into pieces of kN
// elements; a thread works on whole pieces. Only a loop without outer dims may have a rest of less
// than a piece at the end of its one row.
#pragma once

namespace tw::cuda {

inline constexpr int kMaxLoopOperands = 12;
inline constexpr int kLoopThreads = 128;

/// For n and size below 2^31, n / size is (the upper 32 bits of n * multiplier, plus n) >> shift.
struct Divider {
  unsigned long long size;
  unsigned multiplier, shift;
};

/// Stride is int where every stride and the number of pieces fit, else long long.
template <int kOuter, class Stride>
struct LoopParams {
  static constexpr int kRow = kOuter;  // the row's place in `strides`
  using StrideType = Stride;
  void* data[kMaxLoopOperands];                  // inputs, then outputs
  Stride strides[kMaxLoopOperands][kOuter + 1];  // in elements, outermost dim first, the row last
  Divider dims[kOuter > 0 ? kOuter : 1];
  Divider row_pieces;
  long long n_pieces;  // of all rows
  int n_rest;
};

}  // namespace tw::cuda
