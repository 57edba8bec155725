// The peer of every GEMM benchmark: cuBLASLt, y[m, n] = x[m, k] x w[n, k]^T in bf16 with fp32 sums,
// each of the first algorithms of its heuristic to be timed by the caller.
#pragma once

#include "backends/cuda/testing/device_data.cuh"

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tw::cuda::testing {

inline void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, cublasLtGetStatusString(status));
  std::exit(1);
}

struct GemmShape {
  int m, n, k;
  int64_t x_pitch, y_pitch;  // elements; w is packed
};

class CublasLtPeer {
 public:
  CublasLtPeer(cublasLtHandle_t handle, const GemmShape& shape,
               const DeviceArray<uint8_t>& workspace)
      : handle_(handle), workspace_(workspace) {
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescCreate(&op_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "matmul desc");
    check(cublasLtMatmulDescSetAttribute(op_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                         sizeof transposed),
          "transa");
    // Column-major: y^T (N x M) = (w^T seen as K x N)^T x (x^T seen as K x M).
    check(cublasLtMatrixLayoutCreate(&w_, CUDA_R_16BF, shape.k, shape.n, shape.k), "w layout");
    check(cublasLtMatrixLayoutCreate(&x_, CUDA_R_16BF, shape.k, shape.m, shape.x_pitch),
          "x layout");
    check(cublasLtMatrixLayoutCreate(&y_, CUDA_R_16BF, shape.n, shape.m, shape.y_pitch),
          "y layout");
    find_algorithms();
  }
  CublasLtPeer(const CublasLtPeer&) = delete;
  CublasLtPeer& operator=(const CublasLtPeer&) = delete;
  ~CublasLtPeer() {
    cublasLtMatrixLayoutDestroy(w_);
    cublasLtMatrixLayoutDestroy(x_);
    cublasLtMatrixLayoutDestroy(y_);
    cublasLtMatmulDescDestroy(op_);
  }

  int n_algorithms() const { return n_algorithms_; }

  void launch(int algorithm, const void* x, const void* w, void* y, cudaStream_t stream) const {
    const float one = 1, zero = 0;
    check(
        cublasLtMatmul(handle_, op_, &one, w, w_, x, x_, &zero, y, y_, y, y_,
                       &algorithms_[algorithm].algo, workspace_.data(), workspace_.size(), stream),
        "cublasLtMatmul");
  }

 private:
  void find_algorithms() {
    const size_t limit = workspace_.size();
    cublasLtMatmulPreference_t preference;
    check(cublasLtMatmulPreferenceCreate(&preference), "preference");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &limit, sizeof limit),
          "workspace limit");
    check(cublasLtMatmulAlgoGetHeuristic(handle_, op_, w_, x_, y_, y_, preference, kAsked,
                                         algorithms_, &n_algorithms_),
          "heuristic");
    check(cublasLtMatmulPreferenceDestroy(preference), "preference");
  }

  cublasLtHandle_t handle_;
  const DeviceArray<uint8_t>& workspace_;
  cublasLtMatmulDesc_t op_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, y_ = nullptr;
  static constexpr int kAsked = 8;
  cublasLtMatmulHeuristicResult_t algorithms_[kAsked] = {};
  int n_algorithms_ = 0;
};

}  // namespace tw::cuda::testing
