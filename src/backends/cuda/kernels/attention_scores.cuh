// attention_scores.cuh: what a warp does with q and the keys on tensor cores: scores, the mask, the
// largest score of each row.
#pragma once

#include "attention_cut.cuh"

namespace tw::cuda {

template <class T, class M, AttentionConfig kC>
struct AttentionScores {
  using Cut = AttentionCut<T, kC>;
  static constexpr int kStepKeys = Cut::kStepKeys;

  const AttentionParams& p;
  const Cut at;   // a copy: members that point at one another would not stay in registers
  const M* mask;  // of the head
  const uint32_t q_lane, k_lane;  // this lane's place in q and in a stage of keys
  uint32_t q[kC.keep_q ? Cut::kSteps : 1][Cut::kTiles][4];

  TW_DEVICE AttentionScores(const AttentionParams& params, const Cut& cut, const M* mask_of_head)
      : p(params),
        at(cut),
        mask(mask_of_head),
        q_lane(at.shared + (at.group * Cut::kGroupRows + at.lane % 16) * Cut::kPitch +
               at.lane / 16 * 16),
        k_lane(at.shared + kC.keys_at() +
               (at.part * Cut::kPartKeys + at.lane % 8 + at.lane / 16 * 8) * Cut::kPitch +
               at.lane / 8 % 2 * 16) {}

  /// A stage's numbers of the mask take two steps, so that the load goes on beside the arithmetic.
  TW_DEVICE bool has_mask_number() const {
    return kC.mask == AttentionMask::kKeys && threadIdx.x < kStepKeys;
  }
  TW_DEVICE M load_mask_number(int step) const {
    const int key = step * kStepKeys + static_cast<int>(threadIdx.x);
    return has_mask_number() && key < p.n_keys ? mask[key * p.mask_strides.column] : M{};
  }
  TW_DEVICE void put_mask_number(M number, int step, int stage) const {
    if (!has_mask_number()) return;
    const int key = step * kStepKeys + static_cast<int>(threadIdx.x);
    const float x = key < p.n_keys ? mask_log2(number) : minus_infinity();
    store_shared(at.shared + kC.mask_at() + (stage * kStepKeys + threadIdx.x) * 4,
                 __float_as_uint(x));
  }

  TW_DEVICE void load_kept_q() {
#pragma unroll
    for (int step = 0; step < Cut::kSteps; ++step) load_q(q[step], step);
  }
  TW_DEVICE void load_q(uint32_t (&a)[Cut::kTiles][4], int step) {
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m) {
      load_matrices(a[m], q_lane + m * 16 * Cut::kPitch + step * 32);
#pragma unroll
      for (uint32_t& x : a[m]) {
        x ^= p.sign;
        if constexpr (sizeof(T) == 4) x = Mma<T>::round(__uint_as_float(x));
      }
    }
  }

  /// s = q k^T of this warp's keys.
  TW_DEVICE void score(typename Cut::Scores& s, int stage) {
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m)
#pragma unroll
      for (int n = 0; n < Cut::kScoreTiles; ++n)
#pragma unroll
        for (float& x : s[m][n]) x = 0;
    const uint32_t keys = k_lane + stage * kC.stage_bytes();
#pragma unroll
    for (int step = 0; step < Cut::kSteps; ++step) {
      auto& a = q[kC.keep_q ? step : 0];
      if constexpr (!kC.keep_q) load_q(a, step);
#pragma unroll
      for (int n = 0; n < Cut::kScoreTiles; n += 2) {
        uint32_t b[4];
        load_matrices(b, keys + n * 8 * Cut::kPitch + step * 32);
        if constexpr (sizeof(T) == 4)
#pragma unroll
          for (uint32_t& x : b) x = Mma<T>::round(__uint_as_float(x));
#pragma unroll
        for (int m = 0; m < Cut::kTiles; ++m) {
          Mma<T>::add(s[m][n], a[m], b[0], b[1]);
          Mma<T>::add(s[m][n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  /// Scores become exponents where there is a mask; what a query does not see is -infinity.
  TW_DEVICE void hide(typename Cut::Scores& s, int first_key, int stage) {
    const int column = static_cast<int>(at.part * Cut::kPartKeys + at.lane % 4 * 2);
    if constexpr (kC.mask == AttentionMask::kKeys) {
#pragma unroll
      for (int n = 0; n < Cut::kScoreTiles; ++n) {
        const float2 hidden =
            load_shared_float2(at.shared + kC.mask_at() + (stage * kStepKeys + column + n * 8) * 4);
#pragma unroll
        for (int m = 0; m < Cut::kTiles; ++m)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            s[m][n][i] = fmaf(s[m][n][i], p.scale_log2, i % 2 == 0 ? hidden.x : hidden.y);
      }
    }
    const int end = first_key + static_cast<int>(at.part + 1) * Cut::kPartKeys;
    const bool sees_all = end <= AttentionPlace::keys_seen(p, at.first_query);
    if (kC.mask != AttentionMask::kFull && sees_all) return;
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = at.first_query + m * 16 + half * 8 + static_cast<int>(at.lane / 4);
        const int seen = query < p.n_queries ? AttentionPlace::keys_seen(p, query) : 0;
#pragma unroll
        for (int n = 0; n < Cut::kScoreTiles; ++n) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            float& x = s[m][n][half * 2 + i];
            const int key = first_key + column + n * 8 + i;
            if (key >= seen)
              x = minus_infinity();
            else if (kC.mask == AttentionMask::kFull)
              x = fmaf(x, p.scale_log2,
                       mask_log2(mask[query * p.mask_strides.row + key * p.mask_strides.column]));
          }
        }
      }
    }
  }

  /// The largest scores of each row in each block, over the warps of the group.
  TW_DEVICE void find_tops(typename Cut::Rows& tops, const typename Cut::Scores& s) {
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float x = fmaxf(s[m][0][half * 2], s[m][0][half * 2 + 1]);
#pragma unroll
        for (int n = 1; n < Cut::kScoreTiles; ++n)
          x = fmaxf(x, fmaxf(s[m][n][half * 2], s[m][n][half * 2 + 1]));
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
        tops[0][m][half] = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
      }
    }
    if constexpr (kC.key_warps > 1) {
      constexpr int kWarps = kC.key_warps / Cut::kBlocks;  // that score one block
      const uint32_t all =
          at.shared + kC.tops_at() + (at.group * kC.key_warps * 16 + at.lane / 4) * 4;
      if (at.lane % 4 == 0) {
        store_shared(all + at.part * 64, __float_as_uint(tops[0][0][0]));
        store_shared(all + at.part * 64 + 32, __float_as_uint(tops[0][0][1]));
      }
      at.meet();
#pragma unroll
      for (int block = 0; block < Cut::kBlocks; ++block) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float x = minus_infinity();
#pragma unroll
          for (int w = 0; w < kWarps; ++w)
            x = fmaxf(x, __uint_as_float(load_shared(all + (block * kWarps + w) * 64 + half * 32)));
          tops[block][0][half] = x;
        }
      }
    }
  }
};

}  // namespace tw::cuda
