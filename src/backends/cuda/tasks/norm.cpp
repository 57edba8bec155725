// norm: one kernel for all lengths of rows. How many threads share a row follows from its length
// alone, so that a row's bits do not depend on the others.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "backends/cuda/kernels/norm_params.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

using task::NormTask;
using task::SlotId;
using task::SlotInfo;

const SlotInfo* find_slot(const TaskView& view, SlotId id) {
  return id == task::kNoSlot ? nullptr : &view.slot(id);
}

/// Absent operands take the type of one that is there: fewer kernels.
DType type_of(const SlotInfo* slot, DType otherwise) {
  return slot != nullptr ? slot->dtype : otherwise;
}

/// Whether the kernel may fetch the operand before the task's inputs are there.
bool is_early(const SlotInfo* slot) {
  return slot != nullptr && slot->immutable() && slot->strides[0] == 1;
}

int64_t chunks_of(int64_t n_cols, DType dtype) {
  return (n_cols + chunk_width(dtype) - 1) / chunk_width(dtype);
}

/// A thread a chunk while a block has as many: a row is short work, and what counts is how soon it
/// is done.
int norm_team(int64_t n_cols, DType dtype) {
  const int64_t chunks = chunks_of(n_cols, dtype);
  if (chunks <= 32) return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(chunks)));
  return static_cast<int>(std::min<int64_t>((chunks + 31) / 32 * 32, kTeamThreads));
}

}  // namespace

Launches launch_task(const NormTask& task, const TaskView& view) {
  const SlotInfo &x = view.slot(task.x.id), &y = view.slot(task.y.id);
  const SlotInfo *scale = find_slot(view, task.scale.id), *bias = find_slot(view, task.bias.id),
                 *mean = find_slot(view, task.mean.id), *inv_std = find_slot(view, task.inv_std.id);
  for (const SlotInfo* slot : {&x, &y, scale, bias, mean, inv_std})
    if (slot != nullptr && (!is_float(slot->dtype) || device_type(slot->dtype).empty()))
      return error(Code::kUnsupported, "norm with an operand of ", slot->dtype,
                   " has no CUDA form, expected f32, f64, f16 or bf16");
  if (y.count() == 0) return std::vector<Launch>{};
  const int64_t n_cols = y.dims[y.rank - 1], n_rows = y.count() / n_cols;
  if (n_rows > kMaxIndex || n_cols > kMaxIndex / 2)
    return error(Code::kUnsupported, "norm of ", n_rows, " rows of ", n_cols,
                 " elements passes 32-bit indices");

  const int width = chunk_width(x.dtype);
  NormParams p{};
  p.rows = make_rows<4>({&x, &y, mean, inv_std});
  p.x_step = x.strides[x.rank - 1];
  p.y_step = y.strides[y.rank - 1];
  bool whole = is_whole(x, n_cols, p.x_step, width, strides_of(p.rows, 0)) &&
               is_whole(y, n_cols, p.y_step, width, strides_of(p.rows, 1));
  for (const SlotInfo* slot : {scale, bias})
    whole = whole && (slot == nullptr || is_whole(*slot, n_cols, slot->strides[0], width, {}));
  if (scale != nullptr) p.scale_step = scale->strides[0];
  if (bias != nullptr) p.bias_step = bias->strides[0];
  p.warm_scale = is_early(scale) ? 1 : 0;
  p.warm_bias = is_early(bias) ? 1 : 0;
  p.n_rows = static_cast<int>(n_rows);
  p.n_cols = static_cast<int>(n_cols);
  p.team = norm_team(n_cols, x.dtype);
  p.eps = task.eps;

  const DType scale_type = type_of(scale, x.dtype);
  const std::string call =
      cat("norm<", device_type(x.dtype), ", ", device_type(scale_type), ", ",
          device_type(type_of(bias, scale_type)), ", ", device_type(y.dtype), ", ",
          device_type(type_of(mean, DType::kF32)), ", ", device_type(type_of(inv_std, DType::kF32)),
          ", ", task.kind == NormTask::Kind::kLayer, ", ", whole, ", ",
          chunks_of(n_cols, x.dtype) <= p.team, ">");
  Launch launch = make_launch(kernel_unit("norm.cuh", "NormParams", kTeamThreads, call), p);
  launch.threads = team_threads(p.team, n_rows);
  launch.grid[0] = team_blocks(p.team, n_rows);
  point_at(launch, offsetof(NormParams, x), task.x.id);
  point_at(launch, offsetof(NormParams, scale), task.scale.id);
  point_at(launch, offsetof(NormParams, bias), task.bias.id);
  point_at(launch, offsetof(NormParams, y), task.y.id);
  point_at(launch, offsetof(NormParams, mean), task.mean.id);
  point_at(launch, offsetof(NormParams, inv_std), task.inv_std.id);
  return std::vector<Launch>{launch};
}

}  // namespace tw::cuda
