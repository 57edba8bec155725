// The naive neighbour of every GEMM: one thread an output, in double, in ascending K.
#pragma once

#include <cuda_bf16.h>

#include <cmath>
#include <cstdint>

namespace tw::cuda::testing {

struct GemmReferenceArgs {
  const __nv_bfloat16 *x, *w, *bias;  // (M, K), (N, K), (N) or null
  double *y, *magnitude;              // (M, N), both
  int64_t x_pitch, w_pitch;
  int m, n, k;
};

/// y = x x w^T + bias, and the sum of the magnitudes of the terms, which scales the rounding error.
/// Launch with (ceil(n / block), m) blocks.
static __global__ void gemm_reference_kernel(GemmReferenceArgs a) {
  const int col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y);
  if (col >= a.n) return;
  double sum = 0, magnitude = 0;
  for (int i = 0; i < a.k; ++i) {
    const double term = static_cast<double>(__bfloat162float(a.x[row * a.x_pitch + i])) *
                        static_cast<double>(__bfloat162float(a.w[col * a.w_pitch + i]));
    sum += term;
    magnitude += fabs(term);
  }
  const double bias = a.bias == nullptr ? 0 : static_cast<double>(__bfloat162float(a.bias[col]));
  a.y[static_cast<int64_t>(row) * a.n + col] = sum + bias;
  a.magnitude[static_cast<int64_t>(row) * a.n + col] = magnitude + fabs(bias);
}

/// How far a bf16 result with fp32 sums may be from `exact`: half a bf16 step, which is up to 2^-8
/// of the result, plus a step of fp32 of the magnitude for each addition that a tensor core makes
/// along K (one in 16 terms, truncated) and for the slices and the bias.
inline double gemm_tolerance(double exact, double magnitude, int k) {
  constexpr double kHalfStep = 0x1p-8, kFloatStep = 0x1p-23, kOtherAdditions = 32;
  const double sum_error = magnitude * kFloatStep * (k / 16.0 + kOtherAdditions);
  return sum_error + (std::fabs(exact) + sum_error) * kHalfStep;
}

}  // namespace tw::cuda::testing
