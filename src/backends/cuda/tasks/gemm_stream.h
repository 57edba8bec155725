// Small-M GEMM of the streaming family, host side: y[m, n] = x[m, k] x w[n, k]^T (+ bias), bf16 in
// and out, fp32 sums, 1 to 64 rows of x. The weights are read once at the rate of the memory.
//
// The sum order of an output is fixed by (n, k) alone: K is cut into `k_slices` slices, each is
// summed in ascending order from zero, and the slices are added in ascending order, then the bias.
// So a row has the same bits whatever m is, whatever its neighbours are, and on any number of
// multiprocessors.
#pragma once

#include "backends/cuda/tasks/stuck.h"

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace tw::cuda {

/// Operands of one call; all pointers are device memory, pitches count elements.
struct GemmStreamArgs {
  const __nv_bfloat16* x = nullptr;  // (M, K), 16-byte aligned
  const __nv_bfloat16* w =
      nullptr;  // (N, K), 16-byte aligned, immutable: read before the launch's dependencies
  const __nv_bfloat16* bias = nullptr;  // (N), or null; immutable too
  __nv_bfloat16* y = nullptr;           // (M, N), 4-byte aligned
  int64_t x_pitch = 0, w_pitch = 0, y_pitch = 0;
  int m = 0, n = 0, k = 0;
  void* partials = nullptr;  // scratch of partial_bytes(): all bytes 0xff before the first launch
                             // that uses it, and again after each; one for all launches of a stream
  StuckReport* mailbox = nullptr;  // host-mapped, or null
};

/// How one weight is dealt out. `k_slices` is part of the meaning (it fixes the sum order) and
/// depends on (n, k) only; the rest may differ from machine to machine without touching a bit of
/// the answer.
struct GemmStreamPlan {
  int k_slices = 1;
  int warp_tiles = 1;  // of 32 weight rows
  int blocks =
      1;  // all must be resident at once when K is cut, for they wait for one another's sums
  int warps = 1;  // a block

  size_t partial_bytes(int m) const;
};

GemmStreamPlan plan_gemm_stream(int n, int k, int sm_count);

/// Why these operands are not supported, or null when they are.
const char* gemm_stream_refusal(const GemmStreamArgs& args, const GemmStreamPlan& plan);

/// Raises the kernels' shared-memory limits on the current device: once, before the first launch.
cudaError_t prepare_gemm_stream();

/// Launches on `stream`; never synchronises. With `overlap` the launch carries a programmatic
/// dependency on the kernel before it: weights are fetched while that one still runs, x only when
/// it is complete. Returns cudaErrorInvalidValue for what gemm_stream_refusal refuses.
cudaError_t launch_gemm_stream(const GemmStreamArgs& args, const GemmStreamPlan& plan, bool overlap,
                               cudaStream_t stream);

}  // namespace tw::cuda
