#include <algorithm>
#include <limits>

#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"
#include "backends/cpu/window_taps.h"

namespace tw::cpu {
namespace {

using task::PoolTask;

/// How many taps of a window count along one dim: those inside the input, or inside its padding
/// too.
int64_t counted(const PoolTask& task, const WindowTaps& taps, size_t d, int64_t o) {
  const int64_t low = task.count_padding != 0 ? -taps.pad[d] : 0;
  const int64_t high = taps.in[d] + (task.count_padding != 0 ? task.pad_end[d] : 0);
  int64_t n = 0;
  for (int64_t t = 0; t < taps.kernel[d]; ++t) {
    const int64_t i = taps.source(d, o, t);
    if (i >= low && i < high) ++n;
  }
  return n;
}

/// By output pixel of rows [begin, end): what the sum is divided by.
template <class T>
void fill_divisors(const PoolTask& task, const WindowTaps& taps, int64_t begin, int64_t end,
                   T* divisors) {
  for (int64_t a = begin; a < end; ++a) {
    const int64_t by_row = counted(task, taps, 0, a);
    for (int64_t b = 0; b < taps.out[1]; ++b) {
      const int64_t by_col = by_row * counted(task, taps, 1, b);
      for (int64_t c = 0; c < taps.out[2]; ++c) {
        // A window that counts no tap has the sum 0, whatever divides it.
        *divisors++ = static_cast<T>(std::max<int64_t>(1, by_col * counted(task, taps, 2, c)));
      }
    }
  }
}

/// Rows [begin, end) of image n through the kernels: x is f32 with channels side by side.
void run_kernels(const PoolTask& task, const TaskContext& context, const WindowTaps& taps,
                 const float* image, int64_t begin, int64_t end, float* y, int64_t ldy) {
  const ScratchScope scope(*context.scratch);
  const task::SlotInfo& x = context.slot(task.x.id);
  const int64_t channels = x.dims[x.rank - 1];
  const int64_t pixels = (end - begin) * taps.row_pixels();
  const bool is_max = task.kind == PoolTask::Kind::kMax;
  auto* padding = context.scratch->take<float>(channels);
  std::fill_n(padding, channels, is_max ? -std::numeric_limits<float>::infinity() : 0.0F);
  auto** table = context.scratch->take<const float*>(taps.n_taps() * pixels);
  taps.pointers(image, begin, end, padding, table);
  const WindowArgs args{.rows = pixels,
                        .n_taps = taps.n_taps(),
                        .channels = channels,
                        .x = table,
                        .x_stride = pixels,
                        .y = y,
                        .ldy = ldy};
  if (is_max) return context.kernels->max_pool(args);
  auto* divisors = context.scratch->take<float>(pixels);
  fill_divisors(task, taps, begin, end, divisors);
  context.kernels->avg_pool(args, divisors);
}

/// Any type, one pixel at a time. Averages of integers truncate.
template <class Lane>
void run_plain(const PoolTask& task, const TaskContext& context, WindowTaps taps,
               const task::Box& box) {
  const ScratchScope scope(*context.scratch);
  const Window x = whole_window(context, task.x.id), y = window(context, task.y.id, box);
  const std::byte* image = x.data + box.begin[0] * x.strides[0];
  for (int64_t& stride : taps.x_stride) stride *= x.element_bytes();
  const int64_t channels = x.back_dim(0);
  const bool is_max = task.kind == PoolTask::Kind::kMax;
  auto* result = context.scratch->take<Lane>(channels);
  auto* pixel = context.scratch->take<Lane>(channels);
  auto* divisors = context.scratch->take<Lane>((box.end[1] - box.begin[1]) * taps.row_pixels());
  fill_divisors(task, taps, box.begin[1], box.end[1], divisors);
  using Limits = std::numeric_limits<Lane>;
  const Lane lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  std::array<int64_t, 3> o = {box.begin[1], 0, 0};
  const LoopNest nest(y.dims, {&y, 1}, false);
  nest.for_each(1, [&](const auto& at) {
    std::fill_n(result, channels, is_max ? lowest : Lane{0});
    taps.for_each_tap(o, [&](int64_t, int64_t offset) {
      load_lane(*context.kernels, x.dtype, image + offset, x.back_stride(0), channels, pixel);
      for (int64_t c = 0; c < channels; ++c) {
        const bool wins = pixel[c] > result[c] || pixel[c] != pixel[c];
        result[c] = is_max ? (wins ? pixel[c] : result[c]) : result[c] + pixel[c];
      }
    });
    for (int64_t c = 0; !is_max && c < channels; ++c) result[c] /= *divisors;
    store_lane(*context.kernels, y.dtype, result, channels, at[0], y.back_stride(0));
    ++divisors;
    for (size_t d = 3; d-- > 0;) {
      if (++o[d] < taps.out[d] || d == 0) break;
      o[d] = 0;
    }
  });
}

/// Whether the kernels can read x and write y where they are.
bool fits_kernels(const Window& x, const Window& y) {
  if (x.dtype != DType::kF32 || y.dtype != DType::kF32) return false;
  const Window spatial = dims_of(y, 1, y.dims.size() - 1);
  return x.back_stride(0) == 4 && y.back_stride(0) == 4 &&
         LoopNest(spatial.dims, {&spatial, 1}).rank == 1;
}

}  // namespace

Result<void> run(const PoolTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  const WindowTaps taps(task, context.slot(task.x.id), context.slot(task.y.id));
  const Window x = whole_window(context, task.x.id), y = whole_window(context, task.y.id);
  const bool fits = fits_kernels(x, y);
  const task::Lane lane = task::lane_of(x.dtype);
  // The stride from pixel to pixel is that of the last spatial dim that has more than one.
  int64_t pitch = 0;
  for (size_t d = 1; d + 1 < y.dims.size(); ++d) {
    if (y.dims[d] > 1) pitch = y.strides[d] / 4;
  }
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    for (int64_t n = box.begin[0]; n < box.end[0]; ++n) {
      task::Box one = box;
      one.begin[0] = n;
      one.end[0] = n + 1;
      if (fits) {
        run_kernels(task, context, taps, reinterpret_cast<const float*>(x.data + n * x.strides[0]),
                    box.begin[1], box.end[1], window(context, task.y.id, one).as<float>(), pitch);
      } else if (lane == task::Lane::kF64) {
        run_plain<double>(task, context, taps, one);
      } else if (lane == task::Lane::kI64) {
        run_plain<int64_t>(task, context, taps, one);
      } else {
        run_plain<float>(task, context, taps, one);
      }
    }
  }
  return {};
}

}  // namespace tw::cpu
