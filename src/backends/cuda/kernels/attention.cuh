// attention.cuh: attention on tensor cores, in one pass over the keys: scores of 64 keys, their
// exponentials against the largest score so far, products with the values. Fragments (mma.sync) are
// those of attention_mma.cuh.
//
// key_warps > 1 spreads one group of 16 queries over warps, for launches with few queries: each
// scores its part of a step's keys (one block of 64 or two), they exchange largest scores and
// weights through shared memory, and each multiplies all weights with its part of the columns.
// Every number is the same as with one warp.
//
// | wait                     | by        | then visible                                          |
// |--------------------------|-----------|-------------------------------------------------------|
// | copies, __syncthreads    | block     | this stage; the stage before may be overwritten       |
// | barrier after scores     | group     | largest scores; weights before may be overwritten     |
// | barrier after weights    | group     | weights; largest scores may be overwritten            |
#pragma once

#include "attention_scores.cuh"
#include "attention_sums.cuh"

namespace tw::cuda {

template <class T, class M, AttentionConfig kC>
struct AttentionBlock {
  using Cut = AttentionCut<T, kC>;
  static constexpr int kKeys = Cut::kKeys, kStepKeys = Cut::kStepKeys;

  const AttentionParams& p;
  const AttentionPlace place;
  const Cut cut;
  const T *k, *v;  // of the head
  AttentionScores<T, M, kC> scores;
  AttentionSums<T, kC> sums;

  TW_DEVICE explicit AttentionBlock(const AttentionParams& params)
      : p(params),
        place(params, kC.rows()),
        cut(params, place),
        k(place.rows_of<T>(p.k, p.k_strides, place.head / p.group)),
        v(place.rows_of<T>(p.v, p.v_strides, place.head / p.group)),
        scores(params, cut, place.rows_of<M>(p.mask, p.mask_strides, place.head)),
        sums(params, cut) {}

  TW_DEVICE void copy_stage(int step, int stage) {
    copy_rows<T, kStepKeys, kC.head, kC.threads(), kC.aligned>(
        cut.shared + kC.keys_at() + stage * kC.stage_bytes(), k, p.k_strides, step * kStepKeys,
        p.n_keys, p.size);
    copy_rows<T, kStepKeys, kC.head, kC.threads(), kC.aligned>(
        cut.shared + kC.values_at() + stage * kC.stage_bytes(), v, p.v_strides, step * kStepKeys,
        p.n_keys, p.v_size);
  }

  /// From scores to sums.
  TW_DEVICE void add_step(typename Cut::Scores& s, int first_key, int stage) {
    typename Cut::Rows tops, factors;
    float from[Cut::kTiles][2];
    scores.hide(s, first_key, stage);
    scores.find_tops(tops, s);
    sums.follow(factors, from, tops);
    sums.rescale(factors[0]);
    sums.weigh(s, from);
    if constexpr (kC.key_warps > 1) sums.share(s);
    sums.add_values(s, stage, 0);
#pragma unroll
    for (int block = 1; block < Cut::kBlocks; ++block) {
      if (first_key + block * kKeys >= cut.keys_seen) return;
      sums.rescale(factors[block]);
      sums.add_values(s, stage, block);
    }
  }

  TW_DEVICE void run() {
    constexpr int kAhead = kC.stages - 1;
    // With few warps on a multiprocessor, copies would hold up the first loads of the scores.
    constexpr bool kScoresFirst = kC.key_warps > 1;
    const int n_steps = (place.n_keys_seen + kStepKeys - 1) / kStepKeys;
    M numbers[kAhead];
#pragma unroll
    for (int step = 0; step < kAhead; ++step) numbers[step] = scores.load_mask_number(step);
    if (n_steps > 0)
      copy_rows<T, kC.rows(), kC.head, kC.threads(), kC.aligned>(
          cut.shared, place.rows_of<T>(p.q, p.q_strides, place.head), p.q_strides,
          place.first_query, p.n_queries, p.size);
#pragma unroll
    for (int step = 0; step < kAhead; ++step) {
      if (step < n_steps) copy_stage(step, step);
      commit_copies();
    }
#pragma unroll
    for (int step = 0; step < kAhead; ++step) scores.put_mask_number(numbers[step], step, step);
    if constexpr (kC.keep_q) {
      wait_for_copies<kAhead - 1>();
      __syncthreads();
      scores.load_kept_q();
    }
    int stage = 0, free_stage = kAhead;
    for (int step = 0; step < n_steps; ++step) {
      wait_for_copies<kAhead - 1>();
      __syncthreads();
      const int next = step + kAhead, first_key = step * kStepKeys;
      const bool sees = first_key < cut.keys_seen;  // some query of the group does
      const M number = scores.load_mask_number(next);
      typename Cut::Scores s;
      if (kScoresFirst && sees) scores.score(s, stage);
      if (next < n_steps) copy_stage(next, free_stage);
      commit_copies();
      if (!kScoresFirst && sees) scores.score(s, stage);
      if (sees) add_step(s, first_key, stage);
      scores.put_mask_number(number, next, free_stage);
      free_stage = stage;
      stage = stage + 1 == kC.stages ? 0 : stage + 1;
    }
    T* y = const_cast<T*>(place.rows_of<T>(p.y, p.y_strides, place.head));
    sums.store(y);
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
