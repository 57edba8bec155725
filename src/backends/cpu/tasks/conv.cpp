// conv: a tile is a block of output rows of an image. Pointwise convolutions are products on the
// pixels as they lie; others go through tables of pointers to input pixels, padding pointing to a
// row of zeros. f64 and integers take plain loops.
#include <algorithm>

#include "backends/cpu/conv_weights.h"
#include "backends/cpu/float_rows.h"
#include "backends/cpu/tasks/epilogue.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window_taps.h"

namespace tw::cpu {
namespace {

using task::ConvTask;

struct ConvPlan : Prepared {
  Epilogue epilogue;
  AlignedFloats packed;      // of an immutable w that the plan left as it was; else empty
  std::vector<float> zeros;  // a padding pixel
};

/// Floats where the kernels read x: x itself, or the rows that a tile needs as a copy.
struct Image {
  const float* origin = nullptr;  // pixel 0, 0, 0, which a copy may not hold
  WindowTaps taps;
};

Image image_of(const ConvTask& task, const TaskContext& context, int64_t n, int64_t begin,
               int64_t end) {
  const task::SlotInfo &x = context.slot(task.x.id), &y = context.slot(task.y.id);
  Image image{nullptr, WindowTaps(task, x, y)};
  const Window w = whole_window(context, task.x.id);
  const std::byte* data = w.data + n * w.strides[0];
  const size_t channel = w.dims.size() - 1;
  if (w.dtype == DType::kF32 && (w.strides[channel] == 4 || w.dims[channel] == 1)) {
    image.origin = reinterpret_cast<const float*>(data);
    return image;
  }
  WindowTaps& t = image.taps;
  int64_t first = 0, last = 0;
  t.input_rows(begin, end, first, last);
  const int64_t channels = w.dims[channel], row_elems = t.in[1] * t.in[2] * channels;
  auto* copy = context.scratch->take<float>((last - first) * row_elems);
  Window part = dims_of(w, 1, w.dims.size());
  part.dims[0] = last - first;
  part.data = w.data + n * w.strides[0] + first * w.strides[1];
  const LoopNest nest(part.dims, {&part, 1}, false);
  float* to = copy;
  nest.for_each(1, [&](const auto& at) {
    load_lane(*context.kernels, w.dtype, at[0], w.strides[channel], channels, to);
    to += channels;
  });
  t.x_stride = {row_elems, t.in[2] * channels, channels};
  image.origin = copy - first * row_elems;
  return image;
}

/// Output rows [begin, end) of image n.
struct Tile {
  int64_t n, begin, end;
  task::Box box;
};

class FloatConv {
 public:
  FloatConv(const ConvTask& task, const TaskContext& context)
      : task_(task),
        context_(context),
        kernels_(*context.kernels),
        plan_(*static_cast<const ConvPlan*>(context.prepared)),
        shape_(context.slot(task.w.id).shape(), task.groups),
        bias_(vector_of(context, task.bias.id)) {
    if (context.slot(task.w.id).layout == task::Layout::kPanels) {
      weights_ = reinterpret_cast<const float*>(context.addresses[task::index(task.w.id)]);
    } else if (!plan_.packed.empty()) {
      weights_ = plan_.packed.data();
    } else {
      auto* packed = context.scratch->take<float>(shape_.packed_elems(kernels_));
      pack_conv_weights(kernels_, whole_window(context, task.w.id), shape_, packed);
      weights_ = packed;
    }
  }

  void run(const Tile& tile) const {
    const ScratchScope scope(*context_.scratch);
    const Image image = image_of(task_, context_, tile.n, tile.begin, tile.end);
    const Window y = window(context_, task_.y.id, tile.box);
    const int64_t pixels = (tile.end - tile.begin) * image.taps.row_pixels();
    const Plane plane = pixel_plane(y, pixels);
    const FloatResult result(*context_.scratch, plane);
    int64_t pitch = 0;
    if (image.taps.is_pointwise() && task_.groups == 1 && !shape_.is_depthwise() &&
        has_pitch(image.taps, pitch)) {
      pointwise(image, tile, pixels, pitch, result);
    } else {
      windowed(image, tile, pixels, result);
    }
    if (!plan_.epilogue.empty()) {
      plan_.epilogue.run(context_, tile.box, result.data, result.ld);
    } else if (result.is_copy) {
      store(y, result);
    }
  }

 private:
  /// The tile's pixels as rows, when one pitch takes from each to the next; else a type that makes
  /// the result go through scratch.
  static Plane pixel_plane(const Window& y, int64_t pixels) {
    const Window spatial = dims_of(y, 0, y.dims.size() - 1);
    const LoopNest nest(spatial.dims, {&spatial, 1});
    Plane plane{y.data, y.dtype, pixels, y.back_dim(0), nest.strides[0][0], y.back_stride(0)};
    if (nest.rank > 1) plane.dtype = DType::kBool;
    return plane;
  }

  /// Whether one pitch takes from each input pixel to the next in row-major order.
  static bool has_pitch(const WindowTaps& t, int64_t& pitch) {
    bool found = false;
    int64_t expected = 0;
    pitch = 0;
    for (size_t d = 3; d-- > 0;) {
      if (t.in[d] == 1) continue;
      if (found && t.x_stride[d] != expected) return false;
      if (!found) pitch = t.x_stride[d];
      found = true;
      expected = t.x_stride[d] * t.in[d];
    }
    return true;
  }

  void pointwise(const Image& image, const Tile& tile, int64_t pixels, int64_t pitch,
                 const FloatResult& result) const {
    kernels_.gemm({.m = pixels,
                   .n = shape_.co,
                   .k = shape_.ci_per_group,
                   .a = image.origin + tile.begin * image.taps.x_stride[0],
                   .lda = pitch,
                   .b = weights_,
                   .bias = bias_,
                   .c = result.data,
                   .ldc = result.ld});
  }

  void windowed(const Image& image, const Tile& tile, int64_t pixels,
                const FloatResult& result) const {
    const int64_t n_taps = image.taps.n_taps();
    auto** table = context_.scratch->take<const float*>(n_taps * pixels);
    image.taps.pointers(image.origin, tile.begin, tile.end, plan_.zeros.data(), table);
    if (shape_.is_depthwise()) {
      kernels_.depthwise({.rows = pixels,
                          .n_taps = n_taps,
                          .channels = shape_.co,
                          .x = table,
                          .x_stride = pixels,
                          .y = result.data,
                          .ldy = result.ld},
                         weights_, bias_);
      return;
    }
    const int64_t co = shape_.co_per_group();
    for (int64_t g = 0; g < shape_.groups; ++g) {
      kernels_.igemm({.rows = pixels,
                      .n = co,
                      .n_taps = n_taps,
                      .k_per_tap = shape_.ci_per_group,
                      .a = table,
                      .a_stride = pixels,
                      .b = weights_ + g * shape_.group_elems(kernels_),
                      .bias = bias_ != nullptr ? bias_ + g * co : nullptr,
                      .c = result.data + g * co,
                      .ldc = result.ld});
      if (g + 1 == shape_.groups) break;
      // The padding pixel is as long as all channels, so its pointers may move along.
      for (int64_t i = 0; i < n_taps * pixels; ++i) table[i] += shape_.ci_per_group;
    }
  }

  void store(const Window& y, const FloatResult& result) const {
    const LoopNest nest(y.dims, {&y, 1}, false);
    const float* row = result.data;
    nest.for_each(1, [&](const auto& at) {
      store_lane(kernels_, y.dtype, row, shape_.co, at[0], y.back_stride(0));
      row += result.ld;
    });
  }

  const ConvTask& task_;
  const TaskContext& context_;
  const Kernels& kernels_;
  const ConvPlan& plan_;
  const ConvShape shape_;
  const float* bias_;
  const float* weights_ = nullptr;
};

/// All of a window as contiguous elements of a lane, row-major.
template <class Lane>
const Lane* flat_copy(const TaskContext& context, const Window& w) {
  auto* copy = context.scratch->take<Lane>(w.count());
  const LoopNest nest(w.dims, {&w, 1});
  const size_t last = nest.rank - 1;
  Lane* to = copy;
  nest.for_each(1, [&](const auto& at) {
    load_lane(*context.kernels, w.dtype, at[0], nest.strides[0][last], nest.dims[last], to);
    to += nest.dims[last];
  });
  return copy;
}

/// f64 and integers: taps in order, then channels; integers wrap in 64 bits.
template <class Lane>
void run_plain(const ConvTask& task, const TaskContext& context, const Tile& tile) {
  using Sum = std::conditional_t<std::is_same_v<Lane, int64_t>, uint64_t, Lane>;
  const ScratchScope scope(*context.scratch);
  const auto& plan = *static_cast<const ConvPlan*>(context.prepared);
  const Window x = whole_window(context, task.x.id), w_window = whole_window(context, task.w.id);
  const ConvShape shape(w_window.dims, task.groups);
  const Lane* w = flat_copy<Lane>(context, w_window);  // [co][ci / groups][taps]
  const Lane* bias = vector_of<Lane>(context, task.bias.id);
  WindowTaps taps(task, context.slot(task.x.id), context.slot(task.y.id));
  for (int64_t& stride : taps.x_stride) stride *= x.element_bytes();
  const std::byte* image = x.data + tile.n * x.strides[0];
  const int64_t ci = shape.ci_per_group, co = shape.co_per_group(), channels = ci * shape.groups;
  auto* sums = context.scratch->take<Sum>(shape.co);
  auto* pixel = context.scratch->take<Lane>(channels);
  const Window y = window(context, task.y.id, tile.box);
  auto* result = context.scratch->take<Lane>(y.count());
  Lane* out = result;
  for (std::array<int64_t, 3> o = {tile.begin, 0, 0}; o[0] < tile.end; ++o[0]) {
    for (o[1] = 0; o[1] < taps.out[1]; ++o[1]) {
      for (o[2] = 0; o[2] < taps.out[2]; ++o[2], out += shape.co) {
        std::fill_n(sums, shape.co, Sum{0});
        taps.for_each_tap(o, [&](int64_t tap, int64_t offset) {
          load_lane(*context.kernels, x.dtype, image + offset, x.back_stride(0), channels, pixel);
          for (int64_t c = 0; c < shape.co; ++c) {
            const Lane* from = pixel + c / co * ci;
            for (int64_t i = 0; i < ci; ++i) {
              sums[c] += static_cast<Sum>(from[i]) *
                         static_cast<Sum>(w[(c * ci + i) * shape.n_taps + tap]);
            }
          }
        });
        for (int64_t c = 0; c < shape.co; ++c) {
          out[c] =
              static_cast<Lane>(sums[c] + static_cast<Sum>(bias != nullptr ? bias[c] : Lane{0}));
        }
      }
    }
  }
  if (!plan.epilogue.empty()) return plan.epilogue.run(context, tile.box, result, shape.co);
  const LoopNest nest(y.dims, {&y, 1}, false);
  nest.for_each(1, [&](const auto& at) {
    store_lane(*context.kernels, y.dtype, static_cast<const Lane*>(result), shape.co, at[0],
               y.back_stride(0));
    result += shape.co;
  });
}

}  // namespace

Result<PreparedPtr> prepare(const ConvTask& task, const TaskContext& context) {
  auto plan = std::make_unique<ConvPlan>();
  const task::SlotInfo &x = context.slot(task.x.id), &w = context.slot(task.w.id);
  const task::Lane lane = task::lane_of(x.dtype);
  plan->epilogue = TRY(Epilogue::make(context, task.epilogue, task.extra, task.y.id, lane));
  plan->zeros.resize(static_cast<size_t>(x.dims[x.rank - 1]));
  const ConvShape shape(w.shape(), task.groups);
  TRY(check_panels(context, task.w.id, lane, shape.packed_elems(*context.kernels)));
  if (lane == task::Lane::kF32 && w.immutable() && w.layout == task::Layout::kStrided &&
      is_stored_in_full(context, task.w.id) &&
      context.addresses[task::index(task.w.id)] != nullptr) {
    plan->packed = AlignedFloats(shape.packed_elems(*context.kernels));
    pack_conv_weights(*context.kernels, whole_window(context, task.w.id), shape,
                      plan->packed.data());
  }
  return PreparedPtr(std::move(plan));
}

Result<void> run(const ConvTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  const task::Lane lane = task::lane_of(context.slot(task.x.id).dtype);
  const ScratchScope scope(*context.scratch);
  const auto for_each_image = [&](auto&& visit) {
    for (int64_t i = begin; i < end; ++i) {
      const task::Box box = task.tile(context.slots, i);
      for (int64_t n = box.begin[0]; n < box.end[0]; ++n) {
        Tile tile{n, box.begin[1], box.end[1], box};
        tile.box.begin[0] = n;
        tile.box.end[0] = n + 1;
        visit(tile);
      }
    }
  };
  if (lane == task::Lane::kF32) {
    const FloatConv conv(task, context);
    for_each_image([&](const Tile& tile) { conv.run(tile); });
  } else if (lane == task::Lane::kF64) {
    for_each_image([&](const Tile& tile) { run_plain<double>(task, context, tile); });
  } else {
    for_each_image([&](const Tile& tile) { run_plain<int64_t>(task, context, tile); });
  }
  return {};
}

}  // namespace tw::cpu
