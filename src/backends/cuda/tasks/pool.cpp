// pool: a thread makes 16 bytes of the channels of an output pixel.
#include <cstddef>

#include "backends/cuda/kernels/pool_params.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

using task::PoolTask;
using task::SlotInfo;

/// Strides of [n, spatial.., c] by n and three spatial dims, of which missing ones come first; 0
/// where there is one coordinate only.
void fill_strides(const SlotInfo& slot, long long (&strides)[4]) {
  strides[0] = slot.dims[0] > 1 ? slot.strides[0] : 0;
  for (int d = 1; d + 1 < slot.rank; ++d)
    strides[5 - slot.rank + d] = slot.dims[d] > 1 ? slot.strides[d] : 0;
}

PoolParams make_params(const PoolTask& task, const SlotInfo& x, const SlotInfo& y) {
  PoolParams p{};
  fill_strides(x, p.x_strides);
  fill_strides(y, p.y_strides);
  p.x_step = x.strides[x.rank - 1];
  p.y_step = y.strides[y.rank - 1];
  for (int d = 0; d < 3; ++d) {
    p.in[d] = p.kernel[d] = p.stride[d] = 1;
    p.out[d] = p.dilation[d] = make_divisor(1);
  }
  for (int d = 1; d + 1 < x.rank; ++d) {
    const auto from = static_cast<size_t>(d - 1);
    const int to = 4 - x.rank + d;
    p.in[to] = static_cast<int>(x.dims[d]);
    p.out[to] = make_divisor(y.dims[d]);
    p.kernel[to] = task.kernel[from];
    p.stride[to] = task.stride[from];
    p.dilation[to] = make_divisor(task.dilation[from]);
    p.pad[to] = task.pad[from];
    p.pad_end[to] = task.pad_end[from];
  }
  p.n_channels = static_cast<int>(x.dims[x.rank - 1]);
  p.count_padding = task.count_padding;
  return p;
}

}  // namespace

Launches launch_task(const PoolTask& task, const TaskView& view) {
  const SlotInfo &x = view.slot(task.x.id), &y = view.slot(task.y.id);
  if (device_type(x.dtype).empty() || device_type(y.dtype).empty())
    return error(Code::kUnsupported, "pool of ", x.dtype, " into ", y.dtype, " has no CUDA form");
  if (y.count() == 0) return std::vector<Launch>{};
  const int64_t n_channels = y.dims[y.rank - 1], width = chunk_width(x.dtype);
  const int64_t chunks = (n_channels + width - 1) / width;
  const int64_t n_threads = y.count() / n_channels * chunks;
  // Padding and dilation reach a little past either image.
  bool fits = n_threads <= kMaxIndex / 2 && n_channels <= kMaxIndex / 2;
  for (int d = 1; d + 1 < x.rank; ++d) {
    const auto i = static_cast<size_t>(d - 1);
    const int64_t reach = y.dims[d] * task.stride[i] + task.kernel[i] * task.dilation[i];
    fits = fits && x.dims[d] <= kMaxIndex / 4 && reach <= kMaxIndex / 4;
  }
  if (!fits)
    return error(Code::kUnsupported, "pool into ", y.count(), " elements passes 32-bit indices");

  PoolParams p = make_params(task, x, y);
  p.chunks = make_divisor(chunks);
  p.n_threads = static_cast<int>(n_threads);
  const int w = static_cast<int>(width);
  const bool whole = is_whole(x, n_channels, p.x_step, w, p.x_strides) &&
                     is_whole(y, n_channels, p.y_step, w, p.y_strides);
  // Up to nine taps are loaded together, two where a chunk is loaded by elements.
  const int taps = std::min(p.kernel[2], whole ? 8 : 2);
  const int rows = whole && p.kernel[1] * p.kernel[2] <= 9 ? p.kernel[1] : 1;
  const std::string call =
      cat("pool<", device_type(x.dtype), ", ", device_type(y.dtype), ", ",
          task.kind == PoolTask::Kind::kMax, ", ", rows, ", ", taps, ", ", whole, ">");
  Launch launch = make_launch(kernel_unit("pool.cuh", "PoolParams", 128, call), p);
  launch.threads = team_threads(1, n_threads);
  launch.grid[0] = team_blocks(1, n_threads);
  point_at(launch, offsetof(PoolParams, x), task.x.id);
  point_at(launch, offsetof(PoolParams, y), task.y.id);
  return std::vector<Launch>{launch};
}

}  // namespace tw::cuda
