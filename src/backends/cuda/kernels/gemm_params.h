// gemm_params.h: the parameters of gemm and conv kernels, shared by the host code that fills them
// and the kernels that read them. A result is a matrix: its rows are all dims but the last (a
// convolution's pixels), its columns the last dim.
#pragma once

#ifdef __CUDACC_RTC__
#include <reduce_nest.h>
#else
#include "backends/cuda/kernels/reduce_nest.h"
#endif

namespace tw::cuda {

inline constexpr int kMaxLevels = 4;
inline constexpr int kMaxBatchDims = 6;

/// Where the elements of an operand are: row r has coordinates (.., r / size[1] % size[0], r %
/// size[1]) of as many levels as the kernel is compiled for, outermost first; strides count
/// elements.
struct OperandParams {
  void* data;
  long long strides[kMaxLevels];
  long long col_stride;
  long long batch_strides[kMaxBatchDims];
  int sizes[kMaxLevels];
};

/// A CUtensorMap: the executor fills it (TensorBoxes in launch.h).
struct alignas(64) TensorMap {
  unsigned long long words[16];
};

/// How sliding windows share a patch of an image (conv_slide.cuh).
struct SlideParams {
  int tile_w, tile_h;    // output pixels of a tile
  int pitch;             // pixels of a patch's line: those that the tile's line sees
  int tiles_x, tiles_y;  // of an image
  int n_chunks;          // of channels
  int chunk_bytes;       // of a patch's chunk in shared memory, a multiple of 1024
  int box_bytes;         // of the box that fills it
};

/// Windows of x. Spatial dims stand behind one another as [3], missing ones in front have size 1.
struct WindowParams {
  int in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
  int channels;       // of x that one output sees: ci / groups
  long long x_image;  // strides of x in elements
  long long x_space[3];
  long long x_channel;
  long long w_channel;  // of weights that are not packed
  long long w_space[3];
  // Of a patch (conv_patch.cuh): its rows' pitch, what each line of pixels has besides its pixels,
  // all of it.
  int patch_pitch, patch_gap, patch_bytes;
  Divisor patch_lines, patch_planes;  // pixels of a line, lines of an image
  SlideParams slide;
};

/// c[m, n] = epilogue(alpha * sum_k a[m, k] b[n, k] + bias[n], extra..). Every block computes one
/// tile, or one of `slices` parts of K of it.
template <int kExtras>
struct GemmParams {
  TensorMap map_a, map_b;  // where both operands come as boxes
  float alpha;
  int m, n, k;
  int tiles_m, tiles_n, k_tiles, slices;
  int b_is_weight;       // immutable: may be read before the kernels in front are done
  int prefetch_weights;  // into the L2, all that a block will read
  int table_offset;      // in shared memory: what loaders keep beside the ring
  int n_batch_dims;
  int batch_dims[kMaxBatchDims];
  OperandParams a, b;  // rows of b are the columns of c; columns of both run along K
  WindowParams window;
  OperandParams out, bias;
  OperandParams extra[kExtras > 0 ? kExtras : 1];
};

/// y[pixel, c] = epilogue(sum over taps of x[.., c / multiplier] w[c, tap] + bias[c], extra..).
template <int kExtras>
struct DepthwiseParams {
  void* x;
  void* w;
  float alpha;  // 1
  int n;        // channels of y
  int multiplier;
  int strips;                      // pieces of a row of output pixels
  long long n_items;               // strips of all rows times vectors of channels
  long long w_channel, w_taps[3];  // strides of w
  WindowParams window;
  OperandParams out, bias;
  OperandParams extra[kExtras > 0 ? kExtras : 1];
};

}  // namespace tw::cuda
