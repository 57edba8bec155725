// resize: the host states each dim's coordinate rule as one formula in double; blocks make runs of
// pixels along the last spatial dim.
#include <cstddef>

#include "backends/cuda/kernels/resize_params.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

using task::ResizeTask;
using task::SlotInfo;
using Coordinates = ResizeTask::Coordinates;

/// The rules of the CPU (backends/cpu/tasks/resize.cpp, source()) as the terms of ResizeDim. Terms
/// that a rule lacks add 0 or multiply by 1, which is exact.
void set_source(const ResizeTask& task, double scale, int64_t in, int64_t out, ResizeDim& dim) {
  const double resized = scale * static_cast<double>(in);
  const auto half_pixel = [&] { dim.shift = 0.5, dim.divisor = scale, dim.back = 0.5; };
  const auto always_zero = [&] { dim.factor = 0; };
  dim.factor = dim.divisor = 1;
  switch (task.coordinates) {
    case Coordinates::kHalfPixel:
      return half_pixel();
    case Coordinates::kPytorchHalfPixel:
      return resized > 1 ? half_pixel() : always_zero();
    case Coordinates::kAlignCorners:
      if (resized == 1) return always_zero();
      dim.factor = static_cast<double>(in - 1);
      dim.divisor = resized - 1;
      return;
    case Coordinates::kAsymmetric:
      dim.divisor = scale;
      return;
    case Coordinates::kHalfPixelSymmetric: {
      half_pixel();
      const double adjustment = static_cast<double>(out) / resized;
      dim.offset = static_cast<double>(in) / 2 * (1 - adjustment);
      return;
    }
  }
}

ResizeParams make_params(const ResizeTask& task, const SlotInfo& x, const SlotInfo& y) {
  ResizeParams p{};
  for (ResizeDim& dim : p.dims) dim.factor = dim.divisor = dim.in = 1;
  int64_t out[3] = {1, 1, 1};
  for (int d = 1; d + 1 < x.rank; ++d) {
    const auto from = static_cast<size_t>(d - 1);
    const int to = 4 - x.rank + d;
    ResizeDim& dim = p.dims[to];
    dim.in = static_cast<int>(x.dims[d]);
    dim.x_stride = x.dims[d] > 1 ? x.strides[d] : 0;
    dim.y_stride = y.dims[d] > 1 ? y.strides[d] : 0;
    out[to] = y.dims[d];
    const double scale = task.scale_from_sizes != 0
                             ? static_cast<double>(y.dims[d]) / static_cast<double>(x.dims[d])
                             : static_cast<double>(task.scale[from]);
    set_source(task, scale, x.dims[d], y.dims[d], dim);
  }
  p.x_stride = x.dims[0] > 1 ? x.strides[0] : 0;
  p.y_stride = y.dims[0] > 1 ? y.strides[0] : 0;
  p.x_step = x.strides[x.rank - 1];
  p.y_step = y.strides[y.rank - 1];
  p.out[0] = make_divisor(out[0]);
  p.out[1] = make_divisor(out[1]);
  p.n_last = static_cast<int>(out[2]);
  p.n_channels = static_cast<int>(x.dims[x.rank - 1]);
  p.cubic_a = static_cast<double>(task.cubic_a);
  p.nearest = static_cast<ResizeNearest>(task.nearest);
  p.exclude_outside = task.exclude_outside;
  return p;
}

bool is_whole_image(const SlotInfo& slot, int width, int64_t step, int64_t image,
                    std::array<long long, 3> spatial) {
  const long long strides[] = {image, spatial[0], spatial[1], spatial[2]};
  return is_whole(slot, slot.dims[slot.rank - 1], step, width, strides);
}

std::string_view word_type(DType dtype) {
  const int64_t bytes = size_bytes(dtype);
  return bytes == 1 ? "uint8_t" : bytes == 2 ? "uint16_t" : bytes == 4 ? "uint32_t" : "uint64_t";
}

}  // namespace

Launches launch_task(const ResizeTask& task, const TaskView& view) {
  const SlotInfo &x = view.slot(task.x.id), &y = view.slot(task.y.id);
  const bool is_nearest = task.kind == ResizeTask::Kind::kNearest;
  if (is_nearest ? x.dtype != y.dtype
                 : device_type(x.dtype).empty() || device_type(y.dtype).empty())
    return error(Code::kUnsupported, "resize of ", x.dtype, " into ", y.dtype, " has no CUDA form");
  if (y.count() == 0 || x.count() == 0) return std::vector<Launch>{};
  const int64_t n_channels = y.dims[y.rank - 1], width = chunk_width(x.dtype);
  const int64_t chunks = (n_channels + width - 1) / width;
  if (x.count() > kMaxIndex || y.count() > kMaxIndex)
    return error(Code::kUnsupported, "resize of ", x.count(), " into ", y.count(),
                 " elements passes 32-bit indices");

  ResizeParams p = make_params(task, x, y);
  p.n_pixels =
      static_cast<int>(std::clamp<int64_t>(512 / chunks, 1, std::min(p.n_last, kResizePixels)));
  p.blocks = make_divisor((p.n_last + p.n_pixels - 1) / p.n_pixels);
  p.chunks = make_divisor(chunks);
  const ResizeDim(&d)[3] = p.dims;
  const bool whole = is_whole_image(x, static_cast<int>(width), p.x_step, p.x_stride,
                                    {d[0].x_stride, d[1].x_stride, d[2].x_stride}) &&
                     is_whole_image(y, static_cast<int>(width), p.y_step, p.y_stride,
                                    {d[0].y_stride, d[1].y_stride, d[2].y_stride});
  const std::string call =
      is_nearest
          ? cat("resize_nearest<", word_type(x.dtype), ", ", whole, ">")
          : cat("resize_blend<", device_type(x.dtype), ", ", device_type(y.dtype), ", ",
                task.kind == ResizeTask::Kind::kLinear ? 2 : 4, ", ", x.rank - 2, ", ", whole, ">");
  Launch launch = make_launch(kernel_unit("resize.cuh", "ResizeParams", 256, call), p);
  launch.threads =
      static_cast<uint32_t>(std::clamp<int64_t>((p.n_pixels * chunks + 31) / 32 * 32, 32, 256));
  launch.grid[0] = static_cast<uint32_t>(y.count() / n_channels / p.n_last * p.blocks.divisor);
  point_at(launch, offsetof(ResizeParams, x), task.x.id);
  point_at(launch, offsetof(ResizeParams, y), task.y.id);
  return std::vector<Launch>{launch};
}

}  // namespace tw::cuda
