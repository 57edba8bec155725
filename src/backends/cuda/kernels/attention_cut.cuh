// attention_cut.cuh: how a block of the attention kernel on tensor cores is cut among its warps. A
// group of key_warps warps has 16 * row_tiles queries of its own. In q k^T each of its warps takes
// a part of the keys, in p v a part of the columns.
#pragma once

#include "attention_rows.cuh"

namespace tw::cuda {

template <class T, AttentionConfig kC>
struct AttentionCut {
  static constexpr int kKeys = AttentionConfig::kKeys;
  static constexpr int kBlocks = kC.blocks, kStepKeys = kC.step_keys();
  static constexpr int kTiles = kC.row_tiles;  // of 16 queries, a warp's
  static constexpr int kPitch = kC.pitch(), kWeightsPitch = kC.weights_pitch();
  static constexpr int kPartKeys = kStepKeys / kC.key_warps;    // scored by one warp, of one block
  static constexpr int kScoreTiles = kPartKeys / 8;             // of 8 keys
  static constexpr int kOutTiles = kC.head / 8 / kC.key_warps;  // of 8 columns
  static constexpr int kSteps = kC.head * kC.element_bytes / 32;   // of an mma along the columns
  static constexpr int kKeySteps = kKeys * kC.element_bytes / 32;  // and along a block's keys
  static constexpr int kGroupRows = 16 * kTiles, kGroupThreads = 32 * kC.key_warps;
  static_assert(kC.key_warps == 1 ? kBlocks == 1 : kTiles == 1 && kC.key_warps % kBlocks == 0);
  static_assert(sizeof(T) == kC.element_bytes && kScoreTiles % 2 == 0);

  /// Of a lane: scores, then weights, of its warp's keys; as an mma leaves them.
  using Scores = float[kTiles][kScoreTiles][4];

  /// Of the rows g and g + 8 of each tile, for each block.
  using Rows = float[kBlocks][kTiles][2];

  const uint32_t lane, group, part;  // in the warp; of warps in the block; in the group
  const uint32_t shared;             // where the block's shared memory begins
  const int first_query, keys_seen;  // the group's; by its last query

  TW_DEVICE AttentionCut(const AttentionParams& p, const AttentionPlace& place)
      : lane(threadIdx.x % 32),
        group(kC.row_warps == 1 ? 0 : threadIdx.x / kGroupThreads),
        part(threadIdx.x / 32 % kC.key_warps),
        shared(shared_begin()),
        first_query(place.first_query + static_cast<int>(group) * kGroupRows),
        keys_seen(first_query < p.n_queries
                      ? AttentionPlace::keys_seen(p, min(first_query + kGroupRows, p.n_queries) - 1)
                      : 0) {}

  /// All warps of the group meet: what they wrote to shared memory is seen by all of them.
  TW_DEVICE void meet() const {
    if constexpr (kC.key_warps > 1)
      barrier(1 + static_cast<int>(group), kGroupThreads);
    else
      __syncwarp();
  }
};

}  // namespace tw::cuda
