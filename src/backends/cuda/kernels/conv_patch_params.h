// conv_patch_params.h: what the host and the kernel of convolutions of few channels agree on
// (conv_patch.cuh).
#pragma once

#ifndef TW_BOTH  // as in attention_params.h
#ifdef __CUDACC_RTC__
#define TW_BOTH __device__
#else
#define TW_BOTH
#endif
#endif

namespace tw::cuda {

/// What a kernel is specialised on. A tile is 64 pixels a warpgroup by `cols` output channels.
struct PatchConfig {
  int cols, groups;
  int steps;   // of 16 along K
  int vector;  // columns that the epilogue handles at a time
  bool pairs;  // elements 2i and 2i + 1 of K are neighbours in x, at a multiple of 4 bytes

  TW_BOTH constexpr int rows() const { return 64 * groups; }
  TW_BOTH constexpr int threads() const { return 128 * groups; }
  /// Floats from a row of sums to the next: 8 modulo 32 makes the stores of fragments free of
  /// conflicts.
  TW_BOTH constexpr int sums_pitch() const { return cols + 8; }

  // Shared memory, one behind the other: the weights as tiles of K; the sums; an offset for each
  // element of K; twice a place for each line of output pixels; twice a patch.
  TW_BOTH constexpr int weight_bytes() const { return (steps + 3) / 4 * cols * 128; }
  TW_BOTH constexpr int sums_at() const { return weight_bytes(); }
  TW_BOTH constexpr int offsets_at() const { return sums_at() + rows() * sums_pitch() * 4; }
  TW_BOTH constexpr int lines_at() const { return offsets_at() + steps * 16 * 4; }
  TW_BOTH constexpr int line_table() const { return rows() * 4; }
  TW_BOTH constexpr int patches_at() const { return lines_at() + 2 * line_table(); }
};

}  // namespace tw::cuda
