// attention.cuh: attention on tensor cores, in one pass over the keys: scores of 64 keys, their
// exponentials against the largest score so far, products with the values. Fragments (mma.sync) are
// those of attention_mma.cuh.
//
// key_warps > 1 spreads one group of 16 queries over warps, for launches with few queries: each
// scores its part of the 64 keys, they exchange largest scores and weights through shared memory,
// and each multiplies all weights with its part of the columns. Every number is the same as with
// one warp.
//
// | wait                     | by        | then visible                                          |
// |--------------------------|-----------|-------------------------------------------------------|
// | copies, __syncthreads    | block     | this stage; the stage before may be overwritten       |
// | barrier after scores     | group     | largest scores; weights before may be overwritten     |
// | barrier after weights    | group     | weights; largest scores may be overwritten            |
#pragma once

#include "attention_rows.cuh"

namespace tw::cuda {

template <class T, class M, AttentionConfig kC>
struct AttentionBlock {
  static constexpr int kKeys = AttentionConfig::kKeys;
  static constexpr int kTiles = kC.row_tiles;
  static constexpr int kPitch = kC.pitch(), kWeightsPitch = kC.weights_pitch();
  static constexpr int kPartKeys = kKeys / kC.key_warps;           // scored by this warp
  static constexpr int kScoreTiles = kPartKeys / 8;                // of 8 keys
  static constexpr int kOutTiles = kC.head / 8 / kC.key_warps;     // of 8 columns
  static constexpr int kSteps = kC.head * kC.element_bytes / 32;   // of an mma along the columns
  static constexpr int kKeySteps = kKeys * kC.element_bytes / 32;  // and along the keys
  static constexpr int kGroupRows = 16 * kTiles, kGroupThreads = 32 * kC.key_warps;
  static constexpr bool kScaled = kC.mask == AttentionMask::kNone;  // scale is applied with exp2
  static_assert(kC.key_warps == 1 || kTiles == 1);
  static_assert(sizeof(T) == kC.element_bytes && kScoreTiles % 2 == 0);

  const AttentionParams& p;
  const AttentionPlace at;
  const T *k, *v;
  const M* mask;
  const uint32_t lane, group, part;  // in the warp; of warps in the block; of the group's keys
  const uint32_t shared;
  const uint32_t q_lane, k_lane, v_lane;  // this lane's place in q, in a stage of keys, of values
  int first_query, keys_seen;             // the group's; by its last query

  uint32_t q[kC.keep_q ? kSteps : 1][kTiles][4];
  float sums[kTiles][kOutTiles + 1][4];  // of weights times values; the last: of weights
  float largest[kTiles][2];              // score of rows g and g + 8, in units of log2

  TW_DEVICE explicit AttentionBlock(const AttentionParams& params)
      : p(params),
        at(params, kC.rows()),
        k(at.rows_of<T>(p.k, p.k_strides, at.head / p.group)),
        v(at.rows_of<T>(p.v, p.v_strides, at.head / p.group)),
        mask(at.rows_of<M>(p.mask, p.mask_strides, at.head)),
        lane(threadIdx.x % 32),
        group(kC.row_warps == 1 ? 0 : threadIdx.x / kGroupThreads),
        part(threadIdx.x / 32 % kC.key_warps),
        shared(shared_begin()),
        q_lane(shared + (group * kGroupRows + lane % 16) * kPitch + lane / 16 * 16),
        k_lane(shared + kC.keys_at() + (part * kPartKeys + lane % 8 + lane / 16 * 8) * kPitch +
               lane / 8 % 2 * 16),
        v_lane(shared + kC.values_at() + part * kOutTiles * 8 * kC.element_bytes +
               (sizeof(T) == 2 ? lane % 16 * kPitch + lane / 16 * 16
                               : lane % 4 * 2 * kPitch + lane / 4 * 4)),
        first_query(at.first_query + static_cast<int>(group) * kGroupRows) {
    keys_seen = first_query < p.n_queries
                    ? AttentionPlace::keys_seen(p, min(first_query + kGroupRows, p.n_queries) - 1)
                    : 0;
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      largest[m][0] = largest[m][1] = minus_infinity();
#pragma unroll
      for (int n = 0; n <= kOutTiles; ++n)
#pragma unroll
        for (float& sum : sums[m][n]) sum = 0;
    }
  }

  TW_DEVICE void copy_stage(int block, int stage) {
    copy_rows<T, kKeys, kC.head, kC.threads(), kC.aligned>(
        shared + kC.keys_at() + stage * kC.stage_bytes(), k, p.k_strides, block * kKeys, p.n_keys,
        p.size);
    copy_rows<T, kKeys, kC.head, kC.threads(), kC.aligned>(
        shared + kC.values_at() + stage * kC.stage_bytes(), v, p.v_strides, block * kKeys, p.n_keys,
        p.v_size);
  }
  /// A stage's numbers of the mask take two steps, so that the load goes on beside the arithmetic.
  TW_DEVICE bool has_mask_number() const {
    return kC.mask == AttentionMask::kKeys && threadIdx.x < kKeys;
  }
  TW_DEVICE M load_mask_number(int block) const {
    const int key = block * kKeys + static_cast<int>(threadIdx.x);
    return has_mask_number() && key < p.n_keys ? mask[key * p.mask_strides.column] : M{};
  }
  TW_DEVICE void put_mask_number(M number, int block, int stage) const {
    if (!has_mask_number()) return;
    const int key = block * kKeys + static_cast<int>(threadIdx.x);
    const float x = key < p.n_keys ? mask_log2(number) : minus_infinity();
    store_shared(shared + kC.mask_at() + (stage * kKeys + threadIdx.x) * 4, __float_as_uint(x));
  }

  TW_DEVICE void load_q(uint32_t (&a)[kTiles][4], int step) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      load_matrices(a[m], q_lane + m * 16 * kPitch + step * 32);
#pragma unroll
      for (uint32_t& x : a[m]) {
        x ^= p.sign;
        if constexpr (sizeof(T) == 4) x = Mma<T>::round(__uint_as_float(x));
      }
    }
  }

  using Scores = float[kTiles][kScoreTiles][4];

  /// s = q k^T of this warp's keys.
  TW_DEVICE void score(Scores& s, int stage) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int n = 0; n < kScoreTiles; ++n)
#pragma unroll
        for (float& x : s[m][n]) x = 0;
    const uint32_t keys = k_lane + stage * kC.stage_bytes();
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      auto& a = q[kC.keep_q ? step : 0];
      if constexpr (!kC.keep_q) load_q(a, step);
#pragma unroll
      for (int n = 0; n < kScoreTiles; n += 2) {
        uint32_t b[4];
        load_matrices(b, keys + n * 8 * kPitch + step * 32);
        if constexpr (sizeof(T) == 4)
#pragma unroll
          for (uint32_t& x : b) x = Mma<T>::round(__uint_as_float(x));
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
          Mma<T>::add(s[m][n], a[m], b[0], b[1]);
          Mma<T>::add(s[m][n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }

  /// Scores become exponents where there is a mask; what a query does not see is -infinity.
  TW_DEVICE void hide(Scores& s, int first_key, int stage) {
    const int column = static_cast<int>(part * kPartKeys + lane % 4 * 2);
    if constexpr (kC.mask == AttentionMask::kKeys) {
#pragma unroll
      for (int n = 0; n < kScoreTiles; ++n) {
        const float2 hidden =
            load_shared_float2(shared + kC.mask_at() + (stage * kKeys + column + n * 8) * 4);
#pragma unroll
        for (int m = 0; m < kTiles; ++m)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            s[m][n][i] = fmaf(s[m][n][i], p.scale_log2, i % 2 == 0 ? hidden.x : hidden.y);
      }
    }
    const bool sees_all = first_key + kKeys <= AttentionPlace::keys_seen(p, first_query);
    if (kC.mask != AttentionMask::kFull && sees_all) return;
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = first_query + m * 16 + half * 8 + static_cast<int>(lane / 4);
        const int seen = query < p.n_queries ? AttentionPlace::keys_seen(p, query) : 0;
#pragma unroll
        for (int n = 0; n < kScoreTiles; ++n) {
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

  /// The largest scores of the block's rows, over the warps of the group.
  TW_DEVICE void find_tops(float (&top)[kTiles][2], const Scores& s) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float x = fmaxf(s[m][0][half * 2], s[m][0][half * 2 + 1]);
#pragma unroll
        for (int n = 1; n < kScoreTiles; ++n)
          x = fmaxf(x, fmaxf(s[m][n][half * 2], s[m][n][half * 2 + 1]));
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
        top[m][half] = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
      }
    }
    if constexpr (kC.key_warps > 1) {
      const uint32_t tops = shared + kC.tops_at() + (group * kC.key_warps * 16 + lane / 4) * 4;
      if (lane % 4 == 0) {
        store_shared(tops + part * 64, __float_as_uint(top[0][0]));
        store_shared(tops + part * 64 + 32, __float_as_uint(top[0][1]));
      }
      barrier(1 + group, kGroupThreads);
#pragma unroll
      for (int w = 0; w < kC.key_warps; ++w)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          top[0][half] =
              fmaxf(top[0][half], __uint_as_float(load_shared(tops + w * 64 + half * 32)));
    }
  }

  /// Takes the block's scores into account: sums refer to the new largest score.
  TW_DEVICE void rescale(const float (&top)[kTiles][2]) {
    float next[kTiles][2];
    bool grows = false;
#pragma unroll
    for (int m = 0; m < kTiles; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float x = kScaled ? __fmul_rn(top[m][half], p.scale_log2) : top[m][half];
        next[m][half] = raise(largest[m][half], x);
        grows |= next[m][half] != largest[m][half];
      }
    if (!__any_sync(0xffffffffu, grows)) return;
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      float factor[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const bool same = next[m][half] == largest[m][half];
        factor[half] = same ? 1.0f : exp2_of(__fadd_rn(largest[m][half], -origin(next[m][half])));
        largest[m][half] = next[m][half];
      }
#pragma unroll
      for (int n = 0; n <= kOutTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[m][n][i] = __fmul_rn(sums[m][n][i], factor[i / 2]);
    }
  }

  /// Scores become weights.
  TW_DEVICE void weigh(Scores& s) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
      const float from[2] = {-origin(largest[m][0]), -origin(largest[m][1])};
#pragma unroll
      for (int n = 0; n < kScoreTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          s[m][n][i] = exp2_of(kScaled ? fmaf(s[m][n][i], p.scale_log2, from[i / 2])
                                       : __fadd_rn(s[m][n][i], from[i / 2]));
    }
  }

  /// This lane's part of the weights of mma step `step` of this warp's keys. tf32 steps take eight
  /// keys in the order 0, 2, 4, 6, 1, 3, 5, 7, so that a lane's scores are where its operands are.
  TW_DEVICE void pack(uint32_t (&a)[4], const float (&s)[kScoreTiles][4], int step) const {
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
  TW_DEVICE void share(const Scores& s) {
    const uint32_t weights = shared + kC.weights_at() + (group * 16 + lane / 4) * kWeightsPitch +
                             part * kPartKeys * kC.element_bytes + lane % 4 * 4;
#pragma unroll
    for (int step = 0; step < kKeySteps / kC.key_warps; ++step) {
      uint32_t a[4];
      pack(a, s[0], step);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        store_shared(weights + i % 2 * 8 * kWeightsPitch + step * 32 + i / 2 * 16, a[i]);
    }
    barrier(1 + group, kGroupThreads);
  }

  /// Both operands of tile n of the values in mma step `step`, and of tile n + 1 where kTwo.
  template <bool kTwo>
  TW_DEVICE void load_v(uint32_t (&b)[4], uint32_t values, int step, int n) {
    if constexpr (sizeof(T) == 2) {
      const uint32_t from = values + step * 16 * kPitch + n * 16;
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
        const uint32_t from = values + (step * 8 + i % 2) * kPitch + (n + i / 2) * 32;
        b[i] = Mma<T>::round(__uint_as_float(load_shared(from)));
      }
    }
  }

  /// sums += weights times values, over all keys of the block and this warp's columns.
  TW_DEVICE void add_values(const Scores& s, int stage) {
    const uint32_t values = v_lane + stage * kC.stage_bytes();
    const uint32_t weights =
        shared + kC.weights_at() + (group * 16 + lane % 16) * kWeightsPitch + lane / 16 * 16;
#pragma unroll
    for (int step = 0; step < kKeySteps; ++step) {
      uint32_t a[kTiles][4], b[4];
      if constexpr (kC.key_warps > 1) {
        load_matrices(a[0], weights + step * 32);
      } else {
#pragma unroll
        for (int m = 0; m < kTiles; ++m) pack(a[m], s[m], step);
      }
#pragma unroll
      for (int n = 0; n + 1 < kOutTiles; n += 2) {
        load_v<true>(b, values, step, n);
#pragma unroll
        for (int m = 0; m < kTiles; ++m) {
          Mma<T>::add(sums[m][n], a[m], b[0], b[1]);
          Mma<T>::add(sums[m][n + 1], a[m], b[2], b[3]);
        }
      }
      if constexpr (kOutTiles % 2 != 0) {
        load_v<false>(b, values, step, kOutTiles - 1);
#pragma unroll
        for (int m = 0; m < kTiles; ++m) Mma<T>::add(sums[m][kOutTiles - 1], a[m], b[0], b[1]);
      }
      // Weights are summed as the values see them: rounded.
#pragma unroll
      for (int m = 0; m < kTiles; ++m)
        Mma<T>::add(sums[m][kOutTiles], a[m], Mma<T>::kOnes, Mma<T>::kOnes);
    }
  }

  TW_DEVICE void add_block(int first_key, int stage) {
    if (first_key >= keys_seen) return;  // no query of the group sees it
    Scores s;                            // [16 * kTiles][kPartKeys]
    float top[kTiles][2];
    score(s, stage);
    hide(s, first_key, stage);
    find_tops(top, s);
    rescale(top);
    weigh(s);
    if constexpr (kC.key_warps > 1) share(s);
    add_values(s, stage);
  }

  /// Through the rows of q in shared memory, which only this group reads and no longer needs. A row
  /// that saw no key is 0 / 0.
  TW_DEVICE void store() {
    const uint32_t rows = shared + group * kGroupRows * kPitch;
    const uint32_t to =
        rows + lane / 4 * kPitch + (part * kOutTiles * 8 + lane % 4 * 2) * kC.element_bytes;
    if constexpr (kC.key_warps > 1)
      barrier(1 + group, kGroupThreads);
    else
      __syncwarp();
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float share = reciprocal(sums[m][kOutTiles][half * 2]);
#pragma unroll
        for (int n = 0; n < kOutTiles; ++n) {
          Pack<T, 2> pair;
#pragma unroll
          for (int i = 0; i < 2; ++i)
            pair.v[i] = FromFloat<T>::of(__fmul_rn(sums[m][n][half * 2 + i], share));
          const uint32_t place = to + (m * 16 + half * 8) * kPitch + n * 8 * kC.element_bytes;
          if constexpr (sizeof(T) == 2)
            store_shared(place, __builtin_bit_cast(uint32_t, pair));
          else
            store_shared(place, __builtin_bit_cast(uint2, pair));
        }
      }
    }
    if constexpr (kC.key_warps > 1)
      barrier(1 + group, kGroupThreads);
    else
      __syncwarp();
    T* y = const_cast<T*>(at.rows_of<T>(p.y, p.y_strides, at.head));
    store_rows<T, kGroupRows, kC.head, kGroupThreads>(
        p, y, rows, first_query, static_cast<int>(threadIdx.x) % kGroupThreads);
  }

  TW_DEVICE void run() {
    constexpr int kAhead = kC.stages - 1;
    const int n_blocks = (at.n_keys_seen + kKeys - 1) / kKeys;
    M numbers[kAhead];
#pragma unroll
    for (int block = 0; block < kAhead; ++block) numbers[block] = load_mask_number(block);
    if (n_blocks > 0)
      copy_rows<T, kC.rows(), kC.head, kC.threads(), kC.aligned>(
          shared, at.rows_of<T>(p.q, p.q_strides, at.head), p.q_strides, at.first_query,
          p.n_queries, p.size);
#pragma unroll
    for (int block = 0; block < kAhead; ++block) {
      if (block < n_blocks) copy_stage(block, block);
      commit_copies();
    }
#pragma unroll
    for (int block = 0; block < kAhead; ++block) put_mask_number(numbers[block], block, block);
    if constexpr (kC.keep_q) {
      wait_for_copies<kAhead - 1>();
      __syncthreads();
#pragma unroll
      for (int step = 0; step < kSteps; ++step) load_q(q[step], step);
    }
    int stage = 0, free_stage = kAhead;
    for (int block = 0; block < n_blocks; ++block) {
      wait_for_copies<kAhead - 1>();
      __syncthreads();
      const int next = block + kAhead;
      if (next < n_blocks) copy_stage(next, free_stage);
      commit_copies();
      const M number = load_mask_number(next);
      add_block(block * kKeys, stage);
      put_mask_number(number, next, free_stage);
      free_stage = stage;
      stage = stage + 1 == kC.stages ? 0 : stage + 1;
    }
    store();
  }
};

template <class T, class M, AttentionConfig kC>
TW_DEVICE void run_attention(const AttentionParams& p) {
  let_next_start();
  AttentionBlock<T, M, kC> block(p);
  wait_for_inputs();
  block.run();
}

}  // namespace tw::cuda
