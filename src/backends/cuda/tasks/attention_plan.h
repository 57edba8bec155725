// attention_plan.h: which attention kernel a task runs, from its shapes alone.
#pragma once

#include "backends/cuda/kernels/attention_params.h"
#include "backends/cuda/launch.h"

namespace tw::cuda {

/// The sizes that decide. `head` is the larger of the columns of q and of v.
struct AttentionShape {
  int64_t n_heads;  // of all sequences: batch * heads
  int64_t n_queries;
  int64_t head;
  DType dtype;
  AttentionMask mask;
  bool aligned;
};

/// Largest head size with a kernel.
inline constexpr int64_t kMaxAttentionHead = 256;

/// For f16 and bf16, and for f32 that may be rounded to tf32 where `has_tf32_attention`.
/// Record::variant: 0 is a choice by the sizes, 1 to kAttentionVariants a given cut; one that the
/// registers do not hold falls back to 0. All give the same bits.
AttentionConfig tensor_core_attention(const AttentionShape& shape, uint8_t variant);
inline constexpr int kAttentionVariants = 20;
bool has_tf32_attention(int64_t head);
AttentionF32Config fp32_attention(const AttentionShape& shape);

/// The units that are compiled: equal configurations, equal text.
std::string attention_source(const AttentionConfig& config, DType dtype, DType mask);
std::string attention_source(const AttentionF32Config& config, DType mask);

}  // namespace tw::cuda
