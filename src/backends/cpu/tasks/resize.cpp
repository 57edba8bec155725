// resize: separable. Each spatial dim has, for each output coordinate, a few input coordinates and
// their weights; they are worked out once. The dims are blended one after another, the first over
// whole planes, so that most of the work runs along memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"

namespace tw::cpu {
namespace {

using task::ResizeTask;
using Coordinates = ResizeTask::Coordinates;

/// One dim: output coordinate o blends inputs index[o * n + i] by weight[o * n + i]. Nearest has no
/// weights.
struct DimTaps {
  int64_t n = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
};

/// As std::floor, in a few instructions on every machine: for the coordinates that
/// find_sources gives.
int64_t floor_of(double x) {
  const auto truncated = static_cast<int64_t>(x);
  return truncated - (x < static_cast<double>(truncated) ? 1 : 0);
}
int64_t ceil_of(double x) { return -floor_of(-x); }

struct ResizePlan : Prepared {
  std::vector<DimTaps> dims;
};

constexpr double kFarthest = 1e15;  // pixels: a tiny scale may lead beyond, or nowhere

/// The input coordinates of output coordinates from `begin` on, by the names of the ONNX operator.
/// One loop a name: tables are made for each new size.
void find_sources(const ResizeTask& task, double scale, int64_t in, int64_t out, int64_t begin,
                  std::span<double> sources) {
  const auto fill = [&](auto&& source) {
    // Counted in int, which vectors of double are made of in one instruction.
    for (int i = 0; i < static_cast<int>(sources.size()); ++i)
      sources[static_cast<size_t>(i)] = source(static_cast<double>(begin) + i);
  };
  const double resized = scale * static_cast<double>(in);
  switch (task.coordinates) {
    case Coordinates::kPytorchHalfPixel:
      if (!(resized > 1)) return fill([](double) { return 0.0; });
      [[fallthrough]];
    case Coordinates::kHalfPixel:
      fill([=](double o) { return (o + 0.5) / scale - 0.5; });
      break;
    case Coordinates::kAlignCorners:
      if (resized == 1) return fill([](double) { return 0.0; });
      fill([=](double o) { return o * static_cast<double>(in - 1) / (resized - 1); });
      break;
    case Coordinates::kAsymmetric:
      fill([=](double o) { return o / scale; });
      break;
    case Coordinates::kHalfPixelSymmetric: {
      const double adjustment = static_cast<double>(out) / resized;
      const double offset = static_cast<double>(in) / 2 * (1 - adjustment);
      fill([=](double o) { return offset + (o + 0.5) / scale - 0.5; });
      break;
    }
  }
  // They ascend or descend, so the ends tell of all.
  const auto is_near = [](double x) { return std::abs(x) <= kFarthest; };
  if (!is_near(sources.front()) || !is_near(sources.back()))
    for (double& x : sources) x = std::min(x > -kFarthest ? x : -kFarthest, kFarthest);
}

/// The input elements that are nearest to coordinates.
void find_nearest(ResizeTask::Nearest mode, std::span<const double> sources, int64_t in,
                  int64_t* index) {
  const auto fill = [&](auto&& round) {
    for (const double x : sources) *index++ = std::clamp<int64_t>(round(x), 0, in - 1);
  };
  switch (mode) {
    case ResizeTask::Nearest::kRoundPreferFloor:
      return fill([](double x) { return ceil_of(x - 0.5); });
    case ResizeTask::Nearest::kRoundPreferCeil:
      return fill([](double x) { return floor_of(x + 0.5); });
    case ResizeTask::Nearest::kFloor:
      return fill(floor_of);
    case ResizeTask::Nearest::kCeil:
      return fill(ceil_of);
  }
}

/// The weights of the four (or two) neighbours around a fraction in [0, 1).
std::array<double, 4> neighbour_weights(const ResizeTask& task, double t) {
  if (task.kind == ResizeTask::Kind::kLinear) return {1 - t, t, 0, 0};
  const double a = task.cubic_a;
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

void add_blend(const ResizeTask& task, double x, int64_t in, DimTaps& taps) {
  const int64_t floor = floor_of(x), first = taps.n == 4 ? floor - 1 : floor;
  std::array<double, 4> weights = neighbour_weights(task, x - static_cast<double>(floor));
  double sum = 0;
  for (int64_t i = 0; i < taps.n; ++i) {
    const int64_t at = first + i;
    double& weight = weights[static_cast<size_t>(i)];
    if (task.exclude_outside != 0 && (at < 0 || at >= in)) weight = 0;
    taps.index.push_back(std::clamp<int64_t>(at, 0, in - 1));
    sum += weight;
  }
  for (int64_t i = 0; i < taps.n; ++i) {
    const double weight = weights[static_cast<size_t>(i)];
    taps.weight.push_back(task.exclude_outside != 0 ? weight / sum : weight);
  }
}

DimTaps make_taps(const ResizeTask& task, double scale, int64_t in, int64_t out) {
  DimTaps taps;
  if (in == 0) return taps;
  const bool is_nearest = task.kind == ResizeTask::Kind::kNearest;
  taps.n = is_nearest ? 1 : task.kind == ResizeTask::Kind::kLinear ? 2 : 4;
  is_nearest ? taps.index.resize(static_cast<size_t>(out))
             : taps.index.reserve(static_cast<size_t>(out * taps.n));
  if (!is_nearest) taps.weight.reserve(static_cast<size_t>(out * taps.n));
  std::array<double, 256> block;
  for (int64_t begin = 0; begin < out; begin += std::ssize(block)) {
    const auto n = static_cast<size_t>(std::min<int64_t>(out - begin, std::ssize(block)));
    const std::span sources = std::span(block).first(n);
    find_sources(task, scale, in, out, begin, sources);
    if (is_nearest)
      find_nearest(task.nearest, sources, in, taps.index.data() + begin);
    else
      for (const double x : sources) add_blend(task, x, in, taps);
  }
  return taps;
}

/// Elements of rows are f32 or f64 while they are blended.
template <class Lane>
class Blender {
 public:
  Blender(const ResizePlan& plan, const TaskContext& context, const ResizeTask& task)
      : plan_(plan),
        context_(context),
        x_(whole_window(context, task.x.id)),
        y_(whole_window(context, task.y.id)),
        n_spatial_(x_.dims.size() - 2) {}

  void run(const task::Box& box) {
    const ScratchScope scope(*context_.scratch);
    const int64_t channels = x_.back_dim(0);
    slab_[n_spatial_] = channels;
    for (size_t d = n_spatial_; d-- > 0;) slab_[d] = slab_[d + 1] * x_.dims[d + 1];
    for (size_t d = 1; d <= n_spatial_; ++d)
      level_[d] = context_.scratch->template take<Lane>(slab_[d]);
    const Lane* image = load_image(box.begin[0]);
    std::byte* y = y_.data + box.begin[0] * y_.strides[0];
    blend(0, image, y, box.begin[1], box.end[1]);
  }

 private:
  /// Image n as contiguous elements of the lane.
  const Lane* load_image(int64_t n) {
    Window image = dims_of(x_, 1, x_.dims.size());
    image.data += n * x_.strides[0];
    const LoopNest nest(image.dims, {&image, 1});
    const auto element = static_cast<int64_t>(sizeof(Lane));
    if (nest.rank == 1 && is_lane<Lane>(x_.dtype) && nest.strides[0][0] == element) {
      return reinterpret_cast<const Lane*>(image.data);
    }
    auto* copy = context_.scratch->template take<Lane>(slab_[0]);
    const size_t last = nest.rank - 1;
    Lane* to = copy;
    nest.for_each(1, [&](const auto& at) {
      load_lane(*context_.kernels, x_.dtype, at[0], nest.strides[0][last], nest.dims[last], to);
      to += nest.dims[last];
    });
    return copy;
  }

  /// Output coordinates [begin, end) of spatial dim d from `from`, which holds dims d.. of the
  /// input.
  void blend(size_t d, const Lane* from, std::byte* y, int64_t begin, int64_t end) {
    if (d == n_spatial_) {
      store_lane(*context_.kernels, y_.dtype, from, slab_[d], y, y_.back_stride(0));
      return;
    }
    const DimTaps& taps = plan_.dims[d];
    const int64_t next_end = d + 1 < n_spatial_ ? y_.dims[d + 2] : 0;
    for (int64_t o = begin; o < end; ++o) {
      const Lane* slab = blended(taps, o, d, from);
      blend(d + 1, slab, y + o * y_.strides[d + 1], 0, next_end);
    }
  }

  const Lane* blended(const DimTaps& taps, int64_t o, size_t d, const Lane* from) {
    const int64_t size = slab_[d + 1];
    const int64_t* index = taps.index.data() + o * taps.n;
    const double* weight = taps.weight.data() + o * taps.n;
    if (weight[0] == 1) return from + index[0] * size;
    Lane* to = level_[d + 1];
    const Lane* row = from + index[0] * size;
    const auto first = static_cast<Lane>(weight[0]);
    for (int64_t i = 0; i < size; ++i) to[i] = row[i] * first;
    for (int64_t t = 1; t < taps.n; ++t) {
      const auto w = static_cast<Lane>(weight[t]);
      if (w == 0) continue;
      row = from + index[t] * size;
      for (int64_t i = 0; i < size; ++i) to[i] += row[i] * w;
    }
    return to;
  }

  const ResizePlan& plan_;
  const TaskContext& context_;
  const Window x_, y_;
  const size_t n_spatial_;
  std::array<int64_t, kMaxRank> slab_{};  // input elements behind one coordinate of dim d - 1
  std::array<Lane*, kMaxRank> level_{};   // a blended slab
};

/// Nearest moves elements, whatever they are.
void run_nearest(const ResizeTask& task, const TaskContext& context, const ResizePlan& plan,
                 const task::Box& box) {
  const Window x = whole_window(context, task.x.id), y = window(context, task.y.id, box);
  const size_t n_spatial = x.dims.size() - 2;
  const std::byte* image = x.data + box.begin[0] * x.strides[0];
  const int64_t channels = x.back_dim(0), element = x.element_bytes();
  const bool runs = x.back_stride(0) == element && y.back_stride(0) == element;
  Dims at = box.begin;
  const LoopNest nest(y.dims, {&y, 1}, false);
  nest.for_each(1, [&](const auto& to) {
    const std::byte* from = image;
    for (size_t d = 0; d < n_spatial; ++d) {
      from += plan.dims[d].index[static_cast<size_t>(at[d + 1])] * x.strides[d + 1];
    }
    if (runs) {
      std::memcpy(to[0], from, static_cast<size_t>(channels * element));
    } else {
      for (int64_t c = 0; c < channels; ++c) {
        std::memcpy(to[0] + c * y.back_stride(0), from + c * x.back_stride(0),
                    static_cast<size_t>(element));
      }
    }
    for (size_t d = n_spatial; d > 0; --d) {
      if (++at[d] < box.end[d]) break;
      at[d] = box.begin[d];
    }
  });
}

}  // namespace

Result<PreparedPtr> prepare(const ResizeTask& task, const TaskContext& context) {
  auto plan = std::make_unique<ResizePlan>();
  const task::SlotInfo &x = context.slot(task.x.id), &y = context.slot(task.y.id);
  for (int d = 1; d + 1 < x.rank; ++d) {
    const int64_t in = x.dims[d], out = y.dims[d];
    const double scale = task.scale_from_sizes != 0
                             ? static_cast<double>(out) / static_cast<double>(in)
                             : static_cast<double>(task.scale[static_cast<size_t>(d - 1)]);
    plan->dims.push_back(make_taps(task, scale, in, out));
  }
  return PreparedPtr(std::move(plan));
}

Result<void> run(const ResizeTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  const auto& plan = *static_cast<const ResizePlan*>(context.prepared);
  if (context.slot(task.x.id).count() == 0) return {};
  const bool is_double = context.slot(task.x.id).dtype == DType::kF64;
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    for (int64_t n = box.begin[0]; n < box.end[0]; ++n) {
      task::Box one = box;
      one.begin[0] = n;
      one.end[0] = n + 1;
      if (task.kind == ResizeTask::Kind::kNearest) {
        run_nearest(task, context, plan, one);
      } else if (is_double) {
        Blender<double>(plan, context, task).run(one);
      } else {
        Blender<float>(plan, context, task).run(one);
      }
    }
  }
  return {};
}

}  // namespace tw::cpu
