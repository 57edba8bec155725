// attention_f32.cuh: attention in fp32 arithmetic. Sixteen threads (half a warp) share four
// queries: each scores every sixteenth key and owns every sixteenth pair of columns. The layout is
// the same for all numbers of rows in a block, so a row's sums have one order: along the columns
// for scores, along the keys for values.
#pragma once

#include "attention_rows.cuh"

namespace tw::cuda {

template <class M, AttentionF32Config kC>
struct AttentionF32Block {
  static constexpr int kPitch = kC.pitch(), kWeightsPitch = kC.weights_pitch();
  static constexpr int kScores = kC.keys / 16;  // a thread's keys of a block
  static constexpr int kPairs = kC.head / 32;   // and its pairs of columns
  static constexpr int kQueries = 4;

  const AttentionParams& p;
  const AttentionPlace at;
  const float *k, *v;
  const M* mask;
  const int lane, team;  // place among the sixteen; which four queries
  const uint32_t shared;
  float2 sums[kQueries][kPairs];
  float largest[kQueries], total[kQueries];  // total: of this thread's weights

  TW_DEVICE explicit AttentionF32Block(const AttentionParams& params)
      : p(params),
        at(params, kC.rows()),
        k(at.rows_of<float>(p.k, p.k_strides, at.head / p.group)),
        v(at.rows_of<float>(p.v, p.v_strides, at.head / p.group)),
        mask(at.rows_of<M>(p.mask, p.mask_strides, at.head)),
        lane(static_cast<int>(threadIdx.x) % 16),
        team(static_cast<int>(threadIdx.x) / 16),
        shared(shared_begin()) {
#pragma unroll
    for (int i = 0; i < kQueries; ++i) {
      largest[i] = minus_infinity();
      total[i] = 0;
#pragma unroll
      for (float2& sum : sums[i]) sum = {0, 0};
    }
  }

  TW_DEVICE void copy_stage(int block, int stage) {
    copy_rows<float, kC.keys, kC.head, kC.threads(), kC.aligned>(
        shared + kC.keys_at() + stage * kC.stage_bytes(), k, p.k_strides, block * kC.keys, p.n_keys,
        p.size);
    copy_rows<float, kC.keys, kC.head, kC.threads(), kC.aligned>(
        shared + kC.values_at() + stage * kC.stage_bytes(), v, p.v_strides, block * kC.keys,
        p.n_keys, p.v_size);
    commit_copies();
    if (kC.mask == AttentionMask::kKeys && threadIdx.x < kC.keys) {
      const int key = block * kC.keys + static_cast<int>(threadIdx.x);
      const float x = key < p.n_keys ? mask_log2(mask[key * p.mask_strides.column]) : 0.0f;
      store_shared(shared + kC.mask_at() + (stage * kC.keys + threadIdx.x) * 4, __float_as_uint(x));
    }
  }

  using Scores = float[kQueries][kScores];

  /// s = q k^T, columns ascending.
  TW_DEVICE void score(Scores& s, int stage) const {
#pragma unroll
    for (int i = 0; i < kQueries; ++i)
#pragma unroll
      for (float& x : s[i]) x = 0;
    const uint32_t queries = shared + team * kQueries * kPitch;
    const uint32_t keys = shared + kC.keys_at() + stage * kC.stage_bytes() + lane * kPitch;
#pragma unroll 4
    for (int column = 0; column < kC.head; column += 4) {
      float4 a[kQueries];
#pragma unroll
      for (int i = 0; i < kQueries; ++i)
        a[i] = load_shared_float4(queries + i * kPitch + column * 4);
#pragma unroll
      for (int j = 0; j < kScores; ++j) {
        const float4 b = load_shared_float4(keys + j * 16 * kPitch + column * 4);
#pragma unroll
        for (int i = 0; i < kQueries; ++i) {
          s[i][j] = fmaf(a[i].x, b.x, s[i][j]);
          s[i][j] = fmaf(a[i].y, b.y, s[i][j]);
          s[i][j] = fmaf(a[i].z, b.z, s[i][j]);
          s[i][j] = fmaf(a[i].w, b.w, s[i][j]);
        }
      }
    }
  }

  /// Scores become exponents; what a query does not see is -infinity.
  TW_DEVICE void hide(Scores& s, int first_key, int stage) const {
    const float scale = __uint_as_float(__float_as_uint(p.scale_log2) ^ p.sign);
#pragma unroll
    for (int i = 0; i < kQueries; ++i) {
      const int query = at.first_query + team * kQueries + i;
      const int seen = query < p.n_queries ? AttentionPlace::keys_seen(p, query) : 0;
#pragma unroll
      for (int j = 0; j < kScores; ++j) {
        const int key = first_key + lane + j * 16;
        float number = 0;
        if constexpr (kC.mask == AttentionMask::kKeys)
          number = __uint_as_float(
              load_shared(shared + kC.mask_at() + (stage * kC.keys + lane + j * 16) * 4));
        if constexpr (kC.mask == AttentionMask::kFull)
          if (key < seen)
            number = mask_log2(mask[query * p.mask_strides.row + key * p.mask_strides.column]);
        s[i][j] = key < seen ? fmaf(s[i][j], scale, number) : minus_infinity();
      }
    }
  }

  /// Scores become weights, in shared memory too; sums follow the largest score.
  TW_DEVICE void weigh(Scores& s) {
    const uint32_t weights = shared + kC.weights_at() + team * kQueries * kWeightsPitch + lane * 4;
#pragma unroll
    for (int i = 0; i < kQueries; ++i) {
      float top = s[i][0];
#pragma unroll
      for (int j = 1; j < kScores; ++j) top = fmaxf(top, s[i][j]);
#pragma unroll
      for (int lanes = 8; lanes > 0; lanes /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, lanes));
      const float next = raise(largest[i], top);
      if (next != largest[i]) {
        const float factor = exp2_of(__fadd_rn(largest[i], -origin(next)));
        largest[i] = next;
        total[i] = __fmul_rn(total[i], factor);
#pragma unroll
        for (float2& sum : sums[i]) sum = {__fmul_rn(sum.x, factor), __fmul_rn(sum.y, factor)};
      }
#pragma unroll
      for (int j = 0; j < kScores; ++j) {
        const float weight = exp2_of(__fadd_rn(s[i][j], -origin(largest[i])));
        total[i] = __fadd_rn(total[i], weight);
        store_shared(weights + i * kWeightsPitch + j * 64, __float_as_uint(weight));
      }
    }
  }

  /// sums += weights times values, keys ascending.
  TW_DEVICE void add_values(int stage) {
    const uint32_t weights = shared + kC.weights_at() + team * kQueries * kWeightsPitch;
    const uint32_t values = shared + kC.values_at() + stage * kC.stage_bytes() + lane * 8;
#pragma unroll 4
    for (int key = 0; key < kC.keys; key += 4) {
      float w[kQueries][4];
#pragma unroll
      for (int i = 0; i < kQueries; ++i) {
        const float4 x = load_shared_float4(weights + i * kWeightsPitch + key * 4);
        w[i][0] = x.x, w[i][1] = x.y, w[i][2] = x.z, w[i][3] = x.w;
      }
#pragma unroll
      for (int c = 0; c < kPairs; ++c) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float2 x = load_shared_float2(values + (key + j) * kPitch + c * 128);
#pragma unroll
          for (int i = 0; i < kQueries; ++i) {
            sums[i][c].x = fmaf(w[i][j], x.x, sums[i][c].x);
            sums[i][c].y = fmaf(w[i][j], x.y, sums[i][c].y);
          }
        }
      }
    }
  }

  /// Through the rows of q in shared memory. A row that saw no key is 0 / 0.
  TW_DEVICE void store() {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kQueries; ++i) {
      float sum = total[i];
#pragma unroll
      for (int lanes = 8; lanes > 0; lanes /= 2)
        sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, lanes));
      const float share = reciprocal(sum);
#pragma unroll
      for (int c = 0; c < kPairs; ++c)
        store_shared(shared + (team * kQueries + i) * kPitch + c * 128 + lane * 8,
                     uint2{__float_as_uint(__fmul_rn(sums[i][c].x, share)),
                           __float_as_uint(__fmul_rn(sums[i][c].y, share))});
    }
    __syncthreads();
    float* y = const_cast<float*>(at.rows_of<float>(p.y, p.y_strides, at.head));
    store_rows<float, kC.rows(), kC.head, kC.threads()>(p, y, shared, at.first_query,
                                                        static_cast<int>(threadIdx.x));
  }

  TW_DEVICE void run() {
    const int n_blocks = (at.n_keys_seen + kC.keys - 1) / kC.keys;
    if (n_blocks > 0) {
      copy_rows<float, kC.rows(), kC.head, kC.threads(), kC.aligned>(
          shared, at.rows_of<float>(p.q, p.q_strides, at.head), p.q_strides, at.first_query,
          p.n_queries, p.size);
      copy_stage(0, 0);
    }
    for (int block = 0; block < n_blocks; ++block) {
      const int stage = block % 2;
      wait_for_copies<0>();
      __syncthreads();  // this stage has come; all are done with the other
      if (block + 1 < n_blocks) copy_stage(block + 1, 1 - stage);
      Scores s;  // [4][kScores]
      score(s, stage);
      hide(s, block * kC.keys, stage);
      weigh(s);
      __syncwarp();  // weights are read by the sixteen threads that wrote them
      add_values(stage);
      __syncwarp();
    }
    store();
  }
};

template <class M, AttentionF32Config kC>
TW_DEVICE void run_attention_f32(const AttentionParams& p) {
  let_next_start();
  AttentionF32Block<M, kC> block(p);
  wait_for_inputs();
  block.run();
}

}  // namespace tw::cuda
