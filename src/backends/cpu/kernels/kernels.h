// kernels.h: the vector kernels of the CPU backend: plain functions over pointers, one table of
// them an instruction set.
//
// Rules that hold for every function:
// - Sizes and strides count elements and are int64_t; 0 is legal; strides may exceed the extent.
//   No alignment is needed except where said. Nothing is read or written outside the stated
//   extents; nothing allocates, fails or keeps state.
// - Outputs do not overlap inputs, except that a function whose output has the same index space as
//   an input (`y[i]` from `x[i]`) may be given the same pointer for both.
// - The bits of an output element depend on its own inputs and on the reduced length only, never
//   on how the caller splits rows and columns. They may differ between instruction sets (kSse42
//   has no FMA).
// - Subnormals are kept except where said; NaN in gives NaN out unless said.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/isa.h"

namespace tw::cpu {

/// c[m, n] = (a x b)[m, n] + bias[n]. Each element is one chain of multiply-adds in ascending k
/// that starts at 0; the bias is added last. `b` is packed by `pack_b` or row major, as the
/// function says. k == 0 gives the bias (or 0).
struct GemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // [m][k], rows lda apart
  int64_t lda = 0;
  const float* b = nullptr;     // packed [k, n], or [k][n] with rows ldb apart
  int64_t ldb = 0;              // row major only
  const float* bias = nullptr;  // [n], or null
  float* c = nullptr;           // [m][n], rows ldc apart
  int64_t ldc = 0;
};

/// The same sum with rows of `a` behind pointers, for convolution over NHWC:
/// c[r, n] = sum over (tap, i) in that order of a[tap * a_stride + r][i] * b[tap * k_per_tap + i,
/// n], + bias[n]. Padding taps point to a row of k_per_tap zeros. `b` is packed with K = n_taps *
/// k_per_tap. Equal to `gemm` in bits.
struct IgemmArgs {
  int64_t rows = 0, n = 0, n_taps = 0, k_per_tap = 0;
  const float* const* a = nullptr;  // [n_taps][rows] pointers, taps a_stride apart
  int64_t a_stride = 0;
  const float* b = nullptr;
  const float* bias = nullptr;
  float* c = nullptr;
  int64_t ldc = 0;
};

/// As GemmArgs with bf16 `a` and bf16 `b` packed by `pack_b_bf16`; sums and `c` are f32. The order
/// of the sum is that of `Kernels::gemm_bf16`.
struct GemmBf16Args {
  int64_t m = 0, n = 0, k = 0;
  const uint16_t* a = nullptr;  // [m][k], rows lda apart
  int64_t lda = 0;
  const uint16_t* b = nullptr;
  const float* bias = nullptr;
  float* c = nullptr;
  int64_t ldc = 0;
};

/// Windows over NHWC by indirection: output row r reads x[tap * x_stride + r][0..channels) for each
/// tap and writes y[r * ldy + channel].
struct WindowArgs {
  int64_t rows = 0, n_taps = 0, channels = 0;
  const float* const* x = nullptr;  // [n_taps][rows] pointers, taps x_stride apart
  int64_t x_stride = 0;
  float* y = nullptr;
  int64_t ldy = 0;
};

/// A rows x cols block of elements; element (r, c) of the source is src[r * src_row + c * src_col],
/// likewise the target.
struct CopyArgs {
  int64_t rows = 0, cols = 0;
  const void* src = nullptr;
  int64_t src_row = 0, src_col = 1;
  void* dst = nullptr;
  int64_t dst_row = 0, dst_col = 1;
};

using UnaryFn = void (*)(const float* x, float* y, int64_t n);
using UnaryFn1 = void (*)(const float* x, float* y, int64_t n, float p0);
using UnaryFn2 = void (*)(const float* x, float* y, int64_t n, float p0, float p1);
using ReduceFn = float (*)(const float* x, int64_t n);
using AccumulateFn = void (*)(const float* x, float* acc, int64_t n);
template <class From, class To>
using ConvertFn = void (*)(const From* x, To* y, int64_t n);
using CopyFn = void (*)(const CopyArgs& args);

/// y[i] = f(x[i]). vec/vector_math.h and vec/trig.h state the largest error found, in ulp.
struct UnaryKernels {
  UnaryFn exp, expm1, log, log1p, tanh, erf, sigmoid, sin, cos;
  UnaryFn silu;                     // x * sigmoid(x)
  UnaryFn gelu_erf;                 // x * (1 + erf(x / sqrt(2))) / 2
  UnaryFn gelu_tanh;                // the tanh approximation of it
  UnaryFn softplus;                 // log(1 + exp(x))
  UnaryFn sqrt, rsqrt, reciprocal;  // rsqrt is 1 / sqrt(x), both correctly rounded
  UnaryFn abs, neg, sign, relu;     // relu and sign keep NaN; sign(0) is 0
  UnaryFn floor, ceil, trunc, round_even;
  UnaryFn hard_swish;     // x * clip(x / 6 + 1/2, 0, 1)
  UnaryFn1 leaky_relu;    // x < 0 ? p0 * x : x
  UnaryFn1 elu;           // x < 0 ? p0 * expm1(x) : x
  UnaryFn2 hard_sigmoid;  // clip(p0 * x + p1, 0, 1), multiply then add
  UnaryFn2 clip;          // min(max(x, p0), p1); NaN stays
};

/// A binary operation: y[i] = a[i] op b[i], x[i] op s, s op x[i]. max and min give NaN when either
/// side is NaN.
struct BinaryForms {
  void (*vv)(const float* a, const float* b, float* y, int64_t n);
  void (*vs)(const float* x, float s, float* y, int64_t n);
  void (*sv)(float s, const float* x, float* y, int64_t n);
};
struct BinaryKernels {
  BinaryForms add, sub, mul, div, max, min, pow;
};

/// Over a contiguous row. Sums and products have 32 lanes (element i goes to lane i % 32, in
/// order), then halves are folded (lane j with lane j + 16, then 8, 4, 2, 1): the order depends on
/// n only and is the same for all instruction sets. Empty rows give 0, -inf, inf, 1, 0, 0.
struct ReduceKernels {
  ReduceFn sum, max, min, prod, sum_sq, sum_abs;
};

/// acc[i] = acc[i] op f(x[i]): reductions over outer axes, called once a row in the caller's order.
struct AccumulateKernels {
  AccumulateFn sum, max, min, prod, sum_sq, sum_abs;
};

/// Rows of n elements; sums in the order of ReduceKernels, variance in two passes. n >= 1.
struct RowKernels {
  /// y = softmax(x * scale + mask); mask is [n] or null. A row of -inf only gives NaN, as the
  /// formula says.
  void (*softmax)(const float* x, const float* mask, float scale, float* y, int64_t n);
  void (*log_softmax)(const float* x, float* y, int64_t n);
  /// (x - mean) / sqrt(variance + eps) * gamma + beta; gamma and beta are [n] or null.
  void (*layer_norm)(const float* x, const float* gamma, const float* beta, float eps, float* y,
                     int64_t n);
  /// x / sqrt(mean(x^2) + eps) * gamma; gamma is [n] or null.
  void (*rms_norm)(const float* x, const float* gamma, float eps, float* y, int64_t n);
};

/// Float to narrower float rounds to nearest even and keeps NaN (made quiet). Float to integer
/// truncates and saturates, NaN gives 0. Integer to float rounds to nearest even. f16 and bf16 are
/// raw bits.
struct ConvertKernels {
  ConvertFn<float, uint16_t> f32_to_f16, f32_to_bf16;
  ConvertFn<uint16_t, float> f16_to_f32, bf16_to_f32;
  ConvertFn<float, double> f32_to_f64;
  ConvertFn<double, float> f64_to_f32;
  ConvertFn<float, int64_t> f32_to_i64;
  ConvertFn<int64_t, float> i64_to_f32;
  ConvertFn<float, int32_t> f32_to_i32;
  ConvertFn<int32_t, float> i32_to_f32;
  ConvertFn<float, uint8_t> f32_to_u8;
  ConvertFn<uint8_t, float> u8_to_f32;
  ConvertFn<float, int8_t> f32_to_i8;
  ConvertFn<int8_t, float> i8_to_f32;
};

/// Copies of blocks, by element size in bytes. Any strides are right; the fast cases are both sides
/// contiguous along cols (a row copy) and one side contiguous along cols, the other along rows (a
/// transpose).
struct CopyKernels {
  CopyFn size1, size2, size4, size8;
};

struct Kernels {
  Isa isa;
  bool native_bf16;  // gemm_bf16 uses the AVX512_BF16 dot products

  /// Packed columns come in panels of `gemm_nr`. Columns [n0, n1) of a packed [K, N] are themselves
  /// packed, at b + n0 * K, when n0 is a multiple of gemm_nr and n1 is one too or is N. Row counts
  /// near a multiple of `gemm_mr` run best.
  int64_t gemm_nr, gemm_mr;
  int64_t (*packed_b_elems)(int64_t k, int64_t n);
  /// Element (k, n) of the source is b[k * k_stride + n * n_stride]. `packed` is best aligned to 64
  /// bytes.
  void (*pack_b)(const float* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n,
                 float* packed);
  void (*gemm)(const GemmArgs& args);              // b packed
  void (*gemm_row_major_b)(const GemmArgs& args);  // b as it is, for operands that are used once
  void (*igemm)(const IgemmArgs& args);            // b packed

  /// bf16: panels as above with pairs of k side by side ([ceil(K / 2)][nr][2], a missing last k is
  /// 0). Each element is one chain over pairs of k. With `native_bf16` a pair is one vdpbf16ps (odd
  /// k before even k, subnormals flushed to 0); otherwise a multiply-add of the even k, then of the
  /// odd k.
  int64_t (*packed_b_bf16_elems)(int64_t k, int64_t n);
  void (*pack_b_bf16)(const uint16_t* b, int64_t k_stride, int64_t n_stride, int64_t k, int64_t n,
                      uint16_t* packed);
  void (*gemm_bf16)(const GemmBf16Args& args);

  /// y[r, c] = sum over taps in order of x[tap, r][c] * weights[tap * channels + c], + bias[c]
  /// (bias may be null). Padding taps point to zeros.
  void (*depthwise)(const WindowArgs& args, const float* weights, const float* bias);
  /// Padding taps of max_pool point to a row of -inf, or repeat another tap. NaN wins.
  void (*max_pool)(const WindowArgs& args);
  /// The sum over taps, divided by divisors[r]. Padding taps point to zeros.
  void (*avg_pool)(const WindowArgs& args, const float* divisors);

  UnaryKernels unary;
  BinaryKernels binary;
  ReduceKernels reduce;
  AccumulateKernels accumulate;
  RowKernels row;
  ConvertKernels convert;
  CopyKernels copy;
};

/// The kernels of `isa`; the table lives as long as the program. Calling one on a machine that
/// lacks `isa` is undefined: see isa_supported. The avx512 table carries the AVX512_BF16 gemm when
/// the machine has it.
const Kernels& kernels(Isa isa);

}  // namespace tw::cpu
