// softmax: one kernel for all lengths of rows; the threads that share a row follow from its length.
#include <cstddef>

#include "backends/cuda/kernels/softmax_params.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {

Launches launch_task(const task::SoftmaxTask& task, const TaskView& view) {
  const task::SlotInfo &x = view.slot(task.x.id), &y = view.slot(task.y.id);
  for (const task::SlotInfo* slot : {&x, &y})
    if (!is_float(slot->dtype) || device_type(slot->dtype).empty())
      return error(Code::kUnsupported, "softmax with an operand of ", slot->dtype,
                   " has no CUDA form, expected f32, f64, f16 or bf16");
  if (y.count() == 0) return std::vector<Launch>{};
  const int64_t n_cols = y.dims[y.rank - 1], n_rows = y.count() / n_cols;
  if (n_rows > kMaxIndex || n_cols > kMaxIndex / 2)
    return error(Code::kUnsupported, "softmax of ", n_rows, " rows of ", n_cols,
                 " elements passes 32-bit indices");

  const int width = chunk_width(x.dtype);
  SoftmaxParams p{};
  p.rows = make_rows<2>({&x, &y});
  p.x_step = x.strides[x.rank - 1];
  p.y_step = y.strides[y.rank - 1];
  const bool whole = is_whole(x, n_cols, p.x_step, width, strides_of(p.rows, 0)) &&
                     is_whole(y, n_cols, p.y_step, width, strides_of(p.rows, 1));
  p.n_rows = static_cast<int>(n_rows);
  p.n_cols = static_cast<int>(n_cols);
  p.team = row_team(n_cols, x.dtype);

  const std::string call = cat("softmax<", device_type(x.dtype), ", ", device_type(y.dtype), ", ",
                               task.logarithm != 0, ", ", whole, ">");
  Launch launch = make_launch(kernel_unit("softmax.cuh", "SoftmaxParams", kTeamThreads, call), p);
  launch.threads = team_threads(p.team, n_rows);
  launch.grid[0] = team_blocks(p.team, n_rows);
  point_at(launch, offsetof(SoftmaxParams, x), task.x.id);
  point_at(launch, offsetof(SoftmaxParams, y), task.y.id);
  return std::vector<Launch>{launch};
}

}  // namespace tw::cuda
