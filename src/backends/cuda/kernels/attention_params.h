// attention_params.h: what the attention kernels are specialised on and the parameters that they
// take, for the host code that fills them and the kernels that read them.
#pragma once

// Before a function that host and device code evaluate: NVRTC wants to be told.
#ifdef __CUDACC_RTC__
#define TW_BOTH __device__
#else
#define TW_BOTH
#endif

namespace tw::cuda {

/// Elements between neighbours along each dim; 0 where a dim repeats.
struct AttentionStrides {
  long long batch, row, head, column;
};

struct AttentionParams {
  const void *q, *k, *v;  // [batch, row, head, column]
  const void* mask;       // [batch, head, query, key], strides in its own order below
  void* y;
  AttentionStrides q_strides, k_strides, v_strides, y_strides;
  AttentionStrides mask_strides;  // row: query, column: key
  int n_queries, n_keys;
  int heads, group;  // heads of q; how many of them share one head of k and v
  int size, v_size;  // columns of q and k; of v and y
  int query_tiles;   // a head's; a block takes one
  int causal;        // query i sees keys below i + 1 + n_keys - n_queries
  int y_aligned;     // rows of y are stored 16 bytes at a time
  float scale_log2;  // positive: a score's exponential is 2^(scale_log2 * score)
  unsigned sign;     // flips the sign bits of q's elements: carries the sign of the scale
};

enum class AttentionMask {
  kNone,
  kKeys,  // the same for all queries of a head: one number a key
  kFull
};

/// What a kernel on tensor cores is specialised on. A block computes rows() queries of one head:
/// row_warps groups of key_warps warps, each group 16 * row_tiles queries. The warps of a group
/// share the work by keys in q k^T and by columns in p v. However a block is cut, a row's sums have
/// the same order: kKeys keys after kKeys keys, ascending.
struct AttentionConfig {
  static constexpr int kKeys = 64;  // scored together
  int element_bytes;
  int head;  // columns in shared memory; those past the operand's are zero
  int row_tiles, row_warps, key_warps;
  int blocks;   // of kKeys keys that are scored before the warps of a group exchange anything
  int stages;   // such steps of keys and values in shared memory
  int keep_q;   // q stays in registers
  int aligned;  // rows of q, k and v can be copied 16 bytes at a time
  AttentionMask mask;

  TW_BOTH constexpr int threads() const { return row_warps * key_warps * 32; }
  TW_BOTH constexpr int rows() const { return row_warps * row_tiles * 16; }
  /// An odd number of 16-byte units: eight rows' units at one column lie in different banks.
  TW_BOTH constexpr int pitch() const { return head * element_bytes + 16; }
  TW_BOTH constexpr int step_keys() const { return blocks * kKeys; }
  TW_BOTH constexpr int weights_pitch() const { return step_keys() * element_bytes + 16; }
  // Shared memory, in bytes: q (y in the end), stages of keys, of values, of the mask's numbers;
  // what the warps of a group exchange: weights [16][step_keys] and largest scores [key_warps][16].
  TW_BOTH constexpr int stage_bytes() const { return step_keys() * pitch(); }
  TW_BOTH constexpr int keys_at() const { return rows() * pitch(); }
  TW_BOTH constexpr int values_at() const { return keys_at() + stages * stage_bytes(); }
  TW_BOTH constexpr int mask_at() const { return values_at() + stages * stage_bytes(); }
  TW_BOTH constexpr int weights_at() const {
    return mask_at() + (mask == AttentionMask::kKeys ? stages * step_keys() * 4 : 0);
  }
  TW_BOTH constexpr int tops_at() const {
    return weights_at() + (key_warps > 1 ? row_warps * 16 * weights_pitch() : 0);
  }
  TW_BOTH constexpr int shared_bytes() const {
    return tops_at() + (key_warps > 1 ? row_warps * key_warps * 16 * 4 : 0);
  }
};

/// The same for the kernel with fp32 arithmetic. Sixteen threads share four queries.
struct AttentionF32Config {
  int head;        // a multiple of 32
  int block_rows;  // queries of a block
  int keys;        // scored together: fixed by `head`
  int aligned;
  AttentionMask mask;
  static constexpr int kStages = 2;

  TW_BOTH constexpr int rows() const { return block_rows; }
  TW_BOTH constexpr int threads() const { return block_rows * 4; }
  TW_BOTH constexpr int pitch() const { return head * 4 + 16; }
  TW_BOTH constexpr int weights_pitch() const { return keys * 4 + 16; }
  TW_BOTH constexpr int stage_bytes() const { return keys * pitch(); }
  TW_BOTH constexpr int keys_at() const { return block_rows * pitch(); }
  TW_BOTH constexpr int values_at() const { return keys_at() + kStages * stage_bytes(); }
  TW_BOTH constexpr int weights_at() const { return values_at() + kStages * stage_bytes(); }
  TW_BOTH constexpr int mask_at() const { return weights_at() + block_rows * weights_pitch(); }
  TW_BOTH constexpr int shared_bytes() const {
    return mask_at() + (mask == AttentionMask::kKeys ? kStages * keys * 4 : 0);
  }
};

}  // namespace tw::cuda
