// attention: a tile is a block of queries of one head. Scores for all keys are one product, the
// softmax runs over rows, a second product with the values ends it. Whatever the batch and the
// block, a query's sums have the same order.
#include <algorithm>
#include <limits>

#include "backends/cpu/float_rows.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

using task::AttentionTask;

/// [length, size] of one batch and head of a [batch, length, heads, size] operand.
Plane head_plane(const TaskContext& context, task::SlotId id, int64_t batch, int64_t head,
                 int64_t begin, int64_t length) {
  const Window w = whole_window(context, id);
  return {w.data + batch * w.strides[0] + begin * w.strides[1] + head * w.strides[2],
          w.dtype,
          length,
          w.dims[3],
          w.strides[1],
          w.strides[3]};
}

/// The mask's rows for the queries of a tile, repeated where its dims are 1.
struct MaskRows {
  Plane plane;
  bool is_given = false;

  MaskRows(const AttentionTask& task, const TaskContext& context, const task::Box& box,
           int64_t n_keys) {
    if (task.mask.id == task::kNoSlot) return;
    const task::Box scores{{box.begin[0], box.begin[2], box.begin[1], 0},
                           {box.end[0], box.end[2], box.end[1], n_keys}};
    plane = plane_of(broadcast_window(context, task.mask.id, scores));
    is_given = true;
  }

  /// Row r as contiguous floats, in `buffer` unless it lies so already.
  const float* row(const Kernels& kernels, int64_t r, int64_t n, float* buffer) const {
    if (!is_given) return nullptr;
    const std::byte* at = plane.data + r * plane.row_stride;
    if (plane.dtype == DType::kF32 && plane.col_stride == 4) {
      return reinterpret_cast<const float*>(at);
    }
    load_lane(kernels, plane.dtype, at, plane.col_stride, n, buffer);
    return buffer;
  }
};

struct Block {
  int64_t n_queries, n_keys, first_query;
  /// Keys that query r of the block sees.
  int64_t seen(const AttentionTask& task, int64_t total_queries, int64_t r) const {
    if (task.causal == 0) return n_keys;
    return std::clamp<int64_t>(first_query + r + n_keys - total_queries + 1, 0, n_keys);
  }
};

void run_tile(const AttentionTask& task, const TaskContext& context, const task::Box& box) {
  const Kernels& kernels = *context.kernels;
  Scratch& scratch = *context.scratch;
  const ScratchScope scope(scratch);
  const task::SlotInfo &q_slot = context.slot(task.q.id), &k_slot = context.slot(task.k.id);
  const Block block{box.end[1] - box.begin[1], k_slot.dims[1], box.begin[1]};
  const int64_t batch = box.begin[0], head = box.begin[2];
  const int64_t kv_head =
      head / std::max<int64_t>(1, q_slot.dims[2] / std::max<int64_t>(1, k_slot.dims[2]));
  const int64_t n_seen = block.seen(task, q_slot.dims[1], block.n_queries - 1);

  const Plane y_plane =
      head_plane(context, task.y.id, batch, head, block.first_query, block.n_queries);
  const Plane q_plane =
      head_plane(context, task.q.id, batch, head, block.first_query, block.n_queries);
  const Rows<float> q = rows_of<float>(kernels, scratch, q_plane);  // [queries][size]
  const Rows<float> k =
      rows_of<float>(kernels, scratch, head_plane(context, task.k.id, batch, kv_head, 0, n_seen));
  const Rows<float> v =
      rows_of<float>(kernels, scratch, head_plane(context, task.v.id, batch, kv_head, 0, n_seen));

  auto* keys = scratch.take<float>(kernels.packed_b_elems(q_plane.cols, n_seen));
  kernels.pack_b(k.data, 1, k.ld, q_plane.cols, n_seen, keys);   // [size, keys]
  auto* scores = scratch.take<float>(block.n_queries * n_seen);  // [queries][keys]
  kernels.gemm({.m = block.n_queries,
                .n = n_seen,
                .k = q_plane.cols,
                .a = q.data,
                .lda = q.ld,
                .b = keys,
                .c = scores,
                .ldc = n_seen});

  const MaskRows mask(task, context, box, block.n_keys);
  auto* mask_row = scratch.take<float>(mask.is_given ? n_seen : 0);
  const FloatResult result(scratch, y_plane);
  for (int64_t r = 0; r < block.n_queries; ++r) {
    float* row = scores + r * n_seen;
    const int64_t n = block.seen(task, q_slot.dims[1], r);
    if (n > 0) kernels.row.softmax(row, mask.row(kernels, r, n, mask_row), task.scale, row, n);
    std::fill(row + n, row + n_seen, 0.0F);
  }
  kernels.gemm_row_major_b({.m = block.n_queries,
                            .n = y_plane.cols,
                            .k = n_seen,
                            .a = scores,
                            .lda = n_seen,
                            .b = v.data,
                            .ldb = v.ld,
                            .c = result.data,
                            .ldc = result.ld});
  // The mean over no keys: the formula divides zero by zero.
  for (int64_t r = 0; r < block.n_queries && block.seen(task, q_slot.dims[1], r) == 0; ++r) {
    std::fill_n(result.data + r * result.ld, y_plane.cols, std::numeric_limits<float>::quiet_NaN());
  }
  result.store(kernels, y_plane);
}

}  // namespace

Result<void> run(const AttentionTask& task, const TaskContext& context, int64_t begin,
                 int64_t end) {
  for (int64_t i = begin; i < end; ++i) run_tile(task, context, task.tile(context.slots, i));
  return {};
}

}  // namespace tw::cpu
