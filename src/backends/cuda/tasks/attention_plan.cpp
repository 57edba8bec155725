#include "backends/cuda/tasks/attention_plan.h"

#include <algorithm>

#include "base/cat.h"

namespace tw::cuda {
namespace {

constexpr int kHeads[] = {32, 64, 96, 128, 192, 256};
constexpr int kMultiprocessors = 132;
constexpr int kSharedOfTwoBlocks = 113 * 1024;  // a multiprocessor has 228 KiB, a block costs one
constexpr int kMostShared = 227 * 1024;

int rounded_head(int64_t head) {
  return *std::lower_bound(std::begin(kHeads), std::end(kHeads), static_cast<int>(head));
}

int64_t n_blocks(const AttentionShape& shape, int rows) {
  return shape.n_heads * ((shape.n_queries + rows - 1) / rows);
}

/// Whether a warp's registers hold two tiles of 16 queries: the sums and 64 scores of each.
bool two_tiles_fit(const AttentionConfig& config) {
  switch (config.mask) {
    case AttentionMask::kNone:
      return config.head <= (config.element_bytes == 4 ? 64 : config.aligned != 0 ? 128 : 96);
    case AttentionMask::kKeys:
      return config.head <= (config.element_bytes == 4 ? 64 : 96);
    case AttentionMask::kFull:
      return false;
  }
  return false;
}

/// Wide blocks read keys and values least often and are for launches that fill the device with
/// them; narrow ones give every multiprocessor something to do when there are few queries.
void set_cut(AttentionConfig& config, const AttentionShape& shape) {
  if (n_blocks(shape, 128) >= 2 * kMultiprocessors) {
    config.row_tiles = two_tiles_fit(config) ? 2 : 1;
    config.row_warps = 8 / config.row_tiles;
    config.key_warps = 1;
  } else if (n_blocks(shape, 64) >= kMultiprocessors / 2) {
    config.row_tiles = 1;
    config.row_warps = 4;
    config.key_warps = 2;
  } else {
    config.row_tiles = 1;
    config.row_warps = 1;
    config.key_warps = 4;
  }
}

/// Cuts to measure: row_tiles, row_warps, key_warps; each with one and with two blocks of keys a
/// step where its warps exchange anything.
struct Cut {
  int row_tiles, row_warps, key_warps;
};
constexpr Cut kCuts[] = {{1, 1, 4}, {1, 1, 2}, {1, 2, 4}, {1, 2, 2}, {1, 2, 1},
                         {1, 4, 2}, {1, 4, 1}, {1, 8, 1}, {2, 2, 1}, {2, 4, 1}};
static_assert(2 * std::size(kCuts) == kAttentionVariants);

bool set_given_cut(AttentionConfig& config, uint8_t variant) {
  if (variant == 0 || variant > kAttentionVariants) return false;
  const Cut& cut = kCuts[(variant - 1U) / 2];
  config.row_tiles = cut.row_tiles;
  config.row_warps = cut.row_warps;
  config.key_warps = cut.key_warps;
  return cut.row_tiles == 1 || two_tiles_fit(config);
}

/// Two blocks of keys a step halve the barriers, unless they cost a multiprocessor its second
/// block.
void set_steps(AttentionConfig& config, const AttentionShape& shape, int most_blocks) {
  const bool one_each = n_blocks(shape, config.rows()) <= kMultiprocessors;
  config.stages = 2;
  config.blocks = config.key_warps > 1 ? most_blocks : 1;
  if (config.step_keys() > config.threads()) config.blocks = 1;  // a thread brings a mask's number
  if (config.shared_bytes() > (one_each ? kMostShared : kSharedOfTwoBlocks)) config.blocks = 1;
  config.stages = 3;
  if (config.shared_bytes() > kSharedOfTwoBlocks) config.stages = 2;
}

std::string mask_name(AttentionMask mask) {
  return mask == AttentionMask::kNone ? "kNone" : mask == AttentionMask::kKeys ? "kKeys" : "kFull";
}

std::string unit(std::string_view header, std::string_view config_type, const std::string& fields,
                 int threads, int blocks, const std::string& call) {
  return cat("#include \"base.cuh\"\n#include \"", header, "\"\n",
             "constexpr tw::cuda::", config_type, " kConfig{", fields,
             "};\nextern \"C\" __global__ void __launch_bounds__(", threads, ", ", blocks,
             ") tw_kernel(const __grid_constant__ tw::cuda::AttentionParams p) {\n  tw::cuda::",
             call, "(p);\n}\n");
}

}  // namespace

AttentionConfig tensor_core_attention(const AttentionShape& shape, uint8_t variant) {
  AttentionConfig config{};
  config.element_bytes = static_cast<int>(size_bytes(shape.dtype));
  config.head = rounded_head(shape.head);
  config.aligned = shape.aligned ? 1 : 0;
  config.mask = shape.mask;
  const bool given = set_given_cut(config, variant);
  if (!given) set_cut(config, shape);
  config.keep_q = config.row_tiles * config.head * config.element_bytes <= 256 ? 1 : 0;
  set_steps(config, shape, given && variant % 2 == 0 ? 1 : 2);
  return config;
}

bool has_tf32_attention(int64_t head) { return head <= 128; }

AttentionF32Config fp32_attention(const AttentionShape& shape) {
  AttentionF32Config config{};
  config.head = rounded_head(shape.head);
  config.keys = config.head <= 128 ? 64 : 32;
  config.aligned = shape.aligned ? 1 : 0;
  config.mask = shape.mask;
  config.block_rows = n_blocks(shape, 64) >= 2 * kMultiprocessors && config.head <= 128 ? 64
                      : n_blocks(shape, 32) >= kMultiprocessors / 2                     ? 32
                                                                                        : 16;
  return config;
}

std::string attention_source(const AttentionConfig& config, DType dtype, DType mask) {
  // Two blocks a multiprocessor, where registers allow it.
  const bool is_light =
      config.head < 128 && config.aligned != 0 && config.mask != AttentionMask::kFull;
  const bool has_spare = config.threads() == 128 || (config.key_warps > 1 && is_light);
  const bool two = has_spare && config.shared_bytes() <= kSharedOfTwoBlocks;
  return unit("attention.cuh", "AttentionConfig",
              cat(".element_bytes = ", config.element_bytes, ", .head = ", config.head,
                  ", .row_tiles = ", config.row_tiles, ", .row_warps = ", config.row_warps,
                  ", .key_warps = ", config.key_warps, ", .blocks = ", config.blocks,
                  ", .stages = ", config.stages, ", .keep_q = ", config.keep_q, ", .aligned = ",
                  config.aligned, ", .mask = tw::cuda::AttentionMask::", mask_name(config.mask)),
              config.threads(), two ? 2 : 1,
              cat("run_attention<", device_type(dtype), ", ", device_type(mask), ", kConfig>"));
}

std::string attention_source(const AttentionF32Config& config, DType mask) {
  const int blocks = config.shared_bytes() <= kSharedOfTwoBlocks ? 2 : 1;
  return unit("attention_f32.cuh", "AttentionF32Config",
              cat(".head = ", config.head, ", .block_rows = ", config.block_rows,
                  ", .keys = ", config.keys, ", .aligned = ", config.aligned,
                  ", .mask = tw::cuda::AttentionMask::", mask_name(config.mask)),
              config.threads(), blocks, cat("run_attention_f32<", device_type(mask), ", kConfig>"));
}

}  // namespace tw::cuda
