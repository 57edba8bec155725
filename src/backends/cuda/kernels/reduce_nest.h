// reduce_nest.h: where elements lie, as parameters, for the kinds that work on rows, columns or
// windows (norm, softmax, reduce, pool, resize). The host half makes them from slots; the device
// half (reduce_team.cuh) turns indices into offsets with them.
#pragma once

#ifndef __CUDACC_RTC__
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "task/slot.h"
#endif

namespace tw::cuda {

/// n / divisor for 0 <= n < 2^31 is (high 32 bits of n * multiplier, plus n) >> shift.
struct Divisor {
  unsigned divisor, multiplier, shift;
};

/// Loops around each other, outermost first: an index below the product of the dims is a place in
/// each of `kOperands` tensors.
template <int kOperands>
struct Nest {
  int rank;
  Divisor dims[8];
  long long strides[kOperands][8];  // in elements
};

/// Indices on the device are 32 bits wide.
inline constexpr long long kMaxIndex = 0x7fffffff;

/// Of the largest team that shares a row.
inline constexpr int kTeamThreads = 512;

/// By the size of an element: what a thread takes at once (16 bytes, at most 8 elements), and how
/// many of these it keeps of a row in registers (32 floats or 8 doubles).
inline constexpr int kChunkElements[] = {0, 8, 8, 0, 4, 0, 0, 0, 2};
inline constexpr int kHeldChunks[] = {0, 4, 4, 0, 8, 0, 0, 0, 4};

#ifndef __CUDACC_RTC__

inline int chunk_width(DType dtype) { return kChunkElements[size_bytes(dtype)]; }

inline Divisor make_divisor(int64_t divisor) {
  const auto d = static_cast<uint64_t>(std::max<int64_t>(1, divisor));
  const auto shift = static_cast<unsigned>(std::bit_width(d - 1));
  const uint64_t multiplier = (((uint64_t{1} << shift) - d) << 32) / d + 1;
  return {static_cast<unsigned>(d), static_cast<unsigned>(multiplier), shift};
}

template <int kOperands>
struct Axis {
  int64_t dim = 1;
  std::array<int64_t, kOperands> strides{};
};

/// The loops over `axes`, outermost first; their product is at most kMaxIndex. Dims of 1 are
/// dropped and neighbours that every operand crosses in one stride are one loop.
template <int kOperands>
Nest<kOperands> make_nest(std::span<const Axis<kOperands>> axes) {
  std::vector<Axis<kOperands>> merged;
  for (const Axis<kOperands>& axis : axes) {
    if (axis.dim == 1) continue;
    bool joins = !merged.empty();
    for (size_t o = 0; joins && o < kOperands; ++o)
      joins = merged.back().strides[o] == axis.strides[o] * axis.dim;
    const int64_t outer = joins ? merged.back().dim : 1;
    if (joins) merged.pop_back();
    merged.push_back({outer * axis.dim, axis.strides});
  }
  Nest<kOperands> nest{};
  for (const Axis<kOperands>& axis : merged) {
    nest.dims[nest.rank] = make_divisor(axis.dim);
    for (size_t o = 0; o < kOperands; ++o) nest.strides[o][nest.rank] = axis.strides[o];
    ++nest.rank;
  }
  return nest;
}

/// All dims of `slots[0]` but the last, for rows of the last dim. Absent slots have strides of 0.
template <int kOperands>
Nest<kOperands> make_rows(const std::array<const task::SlotInfo*, kOperands>& slots) {
  std::vector<Axis<kOperands>> axes;
  for (int d = 0; d + 1 < slots[0]->rank; ++d) {
    Axis<kOperands> axis{slots[0]->dims[d], {}};
    for (size_t o = 0; o < kOperands; ++o)
      if (slots[o] != nullptr) axis.strides[o] = slots[o]->strides[d];
    axes.push_back(axis);
  }
  return make_nest<kOperands>(axes);
}

/// Whether `n` elements of the slot along a dim of stride `step` are whole chunks of `width`, each
/// at a multiple of its size. `others`: the strides of the other dims of more than one coordinate.
/// Storage itself is aligned to 64 bytes.
inline bool is_whole(const task::SlotInfo& slot, int64_t n, int64_t step, int width,
                     std::span<const long long> others) {
  const int64_t element = size_bytes(slot.dtype), bytes = std::min<int64_t>(16, width * element);
  bool whole = step == 1 && n % width == 0 && slot.offset_in_root() % bytes == 0;
  for (const long long stride : others) whole = whole && stride * element % bytes == 0;
  return whole;
}

template <int kOperands>
std::span<const long long> strides_of(const Nest<kOperands>& nest, int operand) {
  return {nest.strides[operand], static_cast<size_t>(nest.rank)};
}

/// How many threads share a row of `n` elements that each of them holds a part of: lanes of a warp
/// while that holds the row, else a block. It follows from the row alone, so that a
/// row's sums do not depend on how many other rows there are.
inline int row_team(int64_t n, DType dtype) {
  const int width = chunk_width(dtype);
  const int64_t chunks = (n + width - 1) / width;
  if (chunks <= 32 * kHeldChunks[size_bytes(dtype)])
    return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(chunks, 32))));
  return static_cast<int>(std::clamp<int64_t>((chunks / 2 + 31) / 32 * 32, 64, kTeamThreads));
}

/// Threads of a block for `n_rows` teams: small blocks while there are processors without one.
inline uint32_t team_threads(int team, int64_t n_rows) {
  if (team > 32) return static_cast<uint32_t>(team);
  uint32_t threads = 128;
  while (threads > 32 && n_rows * team / threads < 264) threads /= 2;
  return threads;
}

inline uint32_t team_blocks(int team, int64_t n_rows) {
  const int64_t teams = team > 32 ? 1 : team_threads(team, n_rows) / team;
  return static_cast<uint32_t>((n_rows + teams - 1) / teams);
}

/// The unit whose kernel takes `params` (a struct of this namespace) and does `call`. It asks for
/// one block a processor: left to itself, the assembler spills to make room for more.
inline std::string kernel_unit(std::string_view header, std::string_view params, int max_threads,
                               std::string_view call) {
  return cat("#include \"base.cuh\"\n#include \"", header,
             "\"\n\nextern \"C\" __global__ void __launch_bounds__(", max_threads,
             ", 1)\n    tw_kernel(const __grid_constant__ tw::cuda::", params,
             " p) {\n  tw::cuda::", call, "(p);\n}\n");
}

#endif

}  // namespace tw::cuda
