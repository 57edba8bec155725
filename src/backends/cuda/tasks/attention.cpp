// attention: the record and its slots as parameters; attention_plan.cpp chooses the kernel.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backends/cuda/tasks/attention_plan.h"
#include "backends/cuda/tasks/gemm.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

using task::AttentionTask;
using task::SlotInfo;

constexpr double kLog2e = 1.4426950408889634;

bool is_tensor_dtype(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }
bool is_attention_dtype(DType dtype) { return is_tensor_dtype(dtype) || dtype == DType::kF32; }

/// Every row starts at a multiple of 16 bytes and is dense, whole units long. Roots are aligned.
bool has_aligned_rows(const SlotInfo& slot) {
  const int64_t unit = 16 / size_bytes(slot.dtype);
  if (slot.offset_in_root() % 16 != 0 || slot.dims[3] % unit != 0) return false;
  if (slot.dims[3] > 1 && slot.strides[3] != 1) return false;
  for (int d = 0; d < 3; ++d)
    if (slot.dims[d] > 1 && slot.strides[d] % unit != 0) return false;
  return true;
}

AttentionStrides strides_of(const SlotInfo& slot) {
  return {slot.strides[0], slot.strides[1], slot.strides[2], slot.strides[3]};
}

/// The mask's strides over [batch, head, query, key]: 0 where it repeats.
AttentionStrides mask_strides(const SlotInfo& mask) {
  const auto stride = [&](int d) -> int64_t {
    const int own = d - (4 - mask.rank);
    return own < 0 || mask.dims[own] == 1 ? 0 : mask.strides[own];
  };
  return {.batch = stride(0), .row = stride(2), .head = stride(1), .column = stride(3)};
}

AttentionMask mask_kind(const AttentionTask& task, const TaskView& view) {
  if (task.mask.id == task::kNoSlot) return AttentionMask::kNone;
  const bool repeats = mask_strides(view.slot(task.mask.id)).row == 0;
  return repeats ? AttentionMask::kKeys : AttentionMask::kFull;
}

Status check(const AttentionTask& task, const TaskView& view) {
  const SlotInfo &q = view.slot(task.q.id), &y = view.slot(task.y.id);
  for (const task::SlotId id : {task.q.id, task.k.id, task.v.id, task.y.id})
    if (view.slot(id).dtype != q.dtype || !is_attention_dtype(q.dtype))
      return error(Code::kUnsupported, "attention of ", q.dtype, " and ", view.slot(id).dtype,
                   " has no CUDA form, expected one of f32, f16, bf16");
  if (task.mask.id != task::kNoSlot && !is_attention_dtype(view.slot(task.mask.id).dtype))
    return error(Code::kUnsupported, "attention with a mask of ", view.slot(task.mask.id).dtype,
                 " has no CUDA form, expected f32, f16 or bf16");
  const int64_t head = std::max(q.dims[3], y.dims[3]);
  if (head > kMaxAttentionHead)
    return error(Code::kUnsupported, "attention heads of ", head,
                 " elements have no CUDA form, expected at most ", kMaxAttentionHead);
  const int64_t tiles = (q.dims[1] + 15) / 16, keys = view.slot(task.k.id).dims[1];
  constexpr double kMost = 1 << 30;  // numbers of blocks, queries and keys are ints
  if (static_cast<double>(q.dims[0]) * static_cast<double>(q.dims[2]) * static_cast<double>(tiles) >
          kMost ||
      static_cast<double>(q.dims[1]) + static_cast<double>(keys) > kMost)
    return error(Code::kUnsupported, "attention of ", q.dims[0], " x ", q.dims[2], " heads, ",
                 q.dims[1], " queries and ", keys, " keys is too large");
  return {};
}

AttentionParams make_params(const AttentionTask& task, const TaskView& view, int rows) {
  const SlotInfo &q = view.slot(task.q.id), &k = view.slot(task.k.id), &v = view.slot(task.v.id),
                 &y = view.slot(task.y.id);
  AttentionParams p{};
  p.q_strides = strides_of(q);
  p.k_strides = strides_of(k);
  p.v_strides = strides_of(v);
  p.y_strides = strides_of(y);
  if (task.mask.id != task::kNoSlot) p.mask_strides = mask_strides(view.slot(task.mask.id));
  p.n_queries = static_cast<int>(q.dims[1]);
  p.n_keys = static_cast<int>(k.dims[1]);
  p.heads = static_cast<int>(q.dims[2]);
  p.group = static_cast<int>(q.dims[2] / std::max<int64_t>(1, k.dims[2]));
  p.size = static_cast<int>(q.dims[3]);
  p.v_size = static_cast<int>(y.dims[3]);
  p.query_tiles = (p.n_queries + rows - 1) / rows;
  p.causal = task.causal;
  p.y_aligned = has_aligned_rows(y) ? 1 : 0;
  // Largest scores are found before scaling: the sign goes to q, and 0 becomes next to nothing, so
  // that -infinity stays what it is.
  p.scale_log2 = static_cast<float>(std::max(std::fabs(task.scale * kLog2e), 1e-30));
  if (task.scale < 0) p.sign = is_tensor_dtype(q.dtype) ? 0x80008000U : 0x80000000U;
  return p;
}

}  // namespace

Launches launch_task(const AttentionTask& task, const TaskView& view) {
  TRY(check(task, view));
  const SlotInfo &q = view.slot(task.q.id), &y = view.slot(task.y.id);
  if (y.count() == 0) return std::vector<Launch>{};
  const AttentionShape shape{.n_heads = q.dims[0] * q.dims[2],
                             .n_queries = q.dims[1],
                             .head = std::max(q.dims[3], y.dims[3]),
                             .dtype = q.dtype,
                             .mask = mask_kind(task, view),
                             .aligned = has_aligned_rows(q) &&
                                        has_aligned_rows(view.slot(task.k.id)) &&
                                        has_aligned_rows(view.slot(task.v.id))};
  const DType mask_dtype =
      task.mask.id == task::kNoSlot ? DType::kF32 : view.slot(task.mask.id).dtype;
  const auto launch = [&](const auto& config, std::string source) {
    const AttentionParams params = make_params(task, view, config.rows());
    Launch made = make_launch(std::move(source), params);
    made.grid[0] = static_cast<uint32_t>(shape.n_heads * params.query_tiles);
    made.threads = static_cast<uint32_t>(config.threads());
    made.shared_bytes = static_cast<uint32_t>(config.shared_bytes());
    point_at(made, offsetof(AttentionParams, q), task.q.id);
    point_at(made, offsetof(AttentionParams, k), task.k.id);
    point_at(made, offsetof(AttentionParams, v), task.v.id);
    point_at(made, offsetof(AttentionParams, mask), task.mask.id);
    point_at(made, offsetof(AttentionParams, y), task.y.id);
    return std::vector<Launch>{std::move(made)};
  };
  const bool may_round = (view.record.flags & kAllowTf32) != 0 && has_tf32_attention(shape.head);
  if (is_tensor_dtype(q.dtype) || may_round) {
    const AttentionConfig config = tensor_core_attention(shape, view.record.variant);
    return launch(config, attention_source(config, q.dtype, mask_dtype));
  }
  const AttentionF32Config config = fp32_attention(shape);
  return launch(config, attention_source(config, mask_dtype));
}

}  // namespace tw::cuda
