// attention_sums.cuh: what a warp does with scores and values on tensor cores: exponentials against
// the largest score so far, their products with the values, the quotient in the end.
#pragma once

#include "attention_cut.cuh"

namespace tw::cuda {

template <class T, AttentionConfig kC>
struct AttentionSums {
  using Cut = AttentionCut<T, kC>;
  static constexpr bool kScaled = kC.mask == AttentionMask::kNone;  // scale is applied with exp2

  const AttentionParams& p;
  const Cut at;                                    // a copy, as in AttentionScores
  const uint32_t v_lane;                           // this lane's place in a stage of values
  float sums[Cut::kTiles][Cut::kOutTiles + 1][4];  // of weights times values; the last: of weights
  float largest[Cut::kTiles][2];                   // score of rows g and g + 8, in units of log2

  TW_DEVICE AttentionSums(const AttentionParams& params, const Cut& cut)
      : p(params),
        at(cut),
        v_lane(at.shared + kC.values_at() + at.part * Cut::kOutTiles * 8 * kC.element_bytes +
               (sizeof(T) == 2 ? at.lane % 16 * Cut::kPitch + at.lane / 16 * 16
                               : at.lane % 4 * 2 * Cut::kPitch + at.lane / 4 * 4)) {
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m) {
      largest[m][0] = largest[m][1] = minus_infinity();
#pragma unroll
      for (int n = 0; n <= Cut::kOutTiles; ++n)
#pragma unroll
        for (float& sum : sums[m][n]) sum = 0;
    }
  }

  /// Lets the largest scores follow those of the step, block after block. Afterwards `factors` says
  /// what sums are multiplied by before each block, and `from` what this warp's exponents refer to.
  TW_DEVICE void follow(typename Cut::Rows& factors, float (&from)[Cut::kTiles][2],
                        const typename Cut::Rows& tops) {
    const auto own = static_cast<int>(at.part * Cut::kBlocks / kC.key_warps);
#pragma unroll
    for (int block = 0; block < Cut::kBlocks; ++block) {
#pragma unroll
      for (int m = 0; m < Cut::kTiles; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float top = tops[block][m][half], before = largest[m][half];
          const float next = raise(before, kScaled ? __fmul_rn(top, p.scale_log2) : top);
          factors[block][m][half] =
              next == before ? 1.0f : exp2_of(__fadd_rn(before, -origin(next)));
          largest[m][half] = next;
          if (Cut::kBlocks == 1 || own == block) from[m][half] = -origin(next);
        }
      }
    }
  }

  TW_DEVICE void rescale(const float (&factor)[Cut::kTiles][2]) {
    bool changes = false;
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m) changes |= factor[m][0] != 1 || factor[m][1] != 1;
    if (!__any_sync(0xffffffffu, changes)) return;  // multiplying by 1 changes no bit
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m)
#pragma unroll
      for (int n = 0; n <= Cut::kOutTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[m][n][i] = __fmul_rn(sums[m][n][i], factor[m][i / 2]);
  }

  /// Scores become weights.
  TW_DEVICE void weigh(typename Cut::Scores& s, const float (&from)[Cut::kTiles][2]) const {
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m)
#pragma unroll
      for (int n = 0; n < Cut::kScoreTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          s[m][n][i] = exp2_of(kScaled ? fmaf(s[m][n][i], p.scale_log2, from[m][i / 2])
                                       : __fadd_rn(s[m][n][i], from[m][i / 2]));
  }

  /// This lane's part of the weights of mma step `step` of this warp's keys. tf32 steps take eight
  /// keys in the order 0, 2, 4, 6, 1, 3, 5, 7, so that a lane's scores are where its operands are.
  TW_DEVICE void pack(uint32_t (&a)[4], const float (&s)[Cut::kScoreTiles][4], int step) const {
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&x)[4] = s[step * 2 + i / 2];
        a[i] = Mma<T>::pack(x[i % 2 * 2], x[i % 2 * 2 + 1]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = Mma<T>::round(s[step][i % 2 * 2 + i / 2]);
    }
  }

  /// The group's weights, from its warps' registers to shared memory.
  TW_DEVICE void share(const typename Cut::Scores& s) {
    const uint32_t weights = at.shared + kC.weights_at() +
                             (at.group * 16 + at.lane / 4) * Cut::kWeightsPitch +
                             at.part * Cut::kPartKeys * kC.element_bytes + at.lane % 4 * 4;
#pragma unroll
    for (int step = 0; step < Cut::kPartKeys * kC.element_bytes / 32; ++step) {
      uint32_t a[4];
      pack(a, s[0], step);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        store_shared(weights + i % 2 * 8 * Cut::kWeightsPitch + step * 32 + i / 2 * 16, a[i]);
    }
    at.meet();
  }

  /// Both operands of tile n of the values in mma step `step`, and of tile n + 1 where kTwo.
  template <bool kTwo>
  TW_DEVICE void load_v(uint32_t (&b)[4], uint32_t values, int step, int n) {
    if constexpr (sizeof(T) == 2) {
      const uint32_t from = values + step * 16 * Cut::kPitch + n * 16;
      if constexpr (kTwo) {
        load_matrices_transposed(b, from);
      } else {
        uint32_t one[2];
        load_matrices_transposed(one, from);
        b[0] = one[0], b[1] = one[1];
      }
    } else {
#pragma unroll
      for (int i = 0; i < (kTwo ? 4 : 2); ++i) {
        const uint32_t from = values + (step * 8 + i % 2) * Cut::kPitch + (n + i / 2) * 32;
        b[i] = Mma<T>::round(__uint_as_float(load_shared(from)));
      }
    }
  }

  /// sums += weights times values, over all keys of a block and this warp's columns.
  TW_DEVICE void add_values(const typename Cut::Scores& s, int stage, int block) {
    const uint32_t values = v_lane + stage * kC.stage_bytes() + block * Cut::kKeys * Cut::kPitch;
    const uint32_t weights = at.shared + kC.weights_at() +
                             (at.group * 16 + at.lane % 16) * Cut::kWeightsPitch +
                             at.lane / 16 * 16 + block * Cut::kKeys * kC.element_bytes;
#pragma unroll
    for (int step = 0; step < Cut::kKeySteps; ++step) {
      uint32_t a[Cut::kTiles][4], b[4];
      if constexpr (kC.key_warps > 1) {
        load_matrices(a[0], weights + step * 32);
      } else {
#pragma unroll
        for (int m = 0; m < Cut::kTiles; ++m) pack(a[m], s[m], step);
      }
#pragma unroll
      for (int n = 0; n + 1 < Cut::kOutTiles; n += 2) {
        load_v<true>(b, values, step, n);
#pragma unroll
        for (int m = 0; m < Cut::kTiles; ++m) {
          Mma<T>::add(sums[m][n], a[m], b[0], b[1]);
          Mma<T>::add(sums[m][n + 1], a[m], b[2], b[3]);
        }
      }
      if constexpr (Cut::kOutTiles % 2 != 0) {
        load_v<false>(b, values, step, Cut::kOutTiles - 1);
#pragma unroll
        for (int m = 0; m < Cut::kTiles; ++m)
          Mma<T>::add(sums[m][Cut::kOutTiles - 1], a[m], b[0], b[1]);
      }
      // Weights are summed as the values see them: rounded.
#pragma unroll
      for (int m = 0; m < Cut::kTiles; ++m)
        Mma<T>::add(sums[m][Cut::kOutTiles], a[m], Mma<T>::kOnes, Mma<T>::kOnes);
    }
  }

  /// Through the rows of q in shared memory, which only this group reads and no longer needs. A row
  /// that saw no key is 0 / 0.
  TW_DEVICE void store(T* y) const {
    const uint32_t rows = at.shared + at.group * Cut::kGroupRows * Cut::kPitch;
    const uint32_t to = rows + at.lane / 4 * Cut::kPitch +
                        (at.part * Cut::kOutTiles * 8 + at.lane % 4 * 2) * kC.element_bytes;
    at.meet();
#pragma unroll
    for (int m = 0; m < Cut::kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float share = reciprocal(sums[m][Cut::kOutTiles][half * 2]);
#pragma unroll
        for (int n = 0; n < Cut::kOutTiles; ++n) {
          Pack<T, 2> pair;
#pragma unroll
          for (int i = 0; i < 2; ++i)
            pair.v[i] = FromFloat<T>::of(__fmul_rn(sums[m][n][half * 2 + i], share));
          const uint32_t place = to + (m * 16 + half * 8) * Cut::kPitch + n * 8 * kC.element_bytes;
          if constexpr (sizeof(T) == 2)
            store_shared(place, __builtin_bit_cast(uint32_t, pair));
          else
            store_shared(place, __builtin_bit_cast(uint2, pair));
        }
      }
    }
    at.meet();
    store_rows<T, Cut::kGroupRows, kC.head, Cut::kGroupThreads>(
        p, y, rows, at.first_query, static_cast<int>(at.part * 32 + at.lane));
  }
};

}  // namespace tw::cuda
