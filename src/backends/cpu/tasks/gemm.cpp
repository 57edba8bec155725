// gemm: one tile at a time through the packed-panel kernels; the epilogue runs on the tile while it
// is in the cache. Elements that are not f32 pass through f32 (floats of 16 and 8 bits) or through
// plain loops (f64 and integers), with the same order of the sum.
#include <algorithm>

#include "backends/cpu/float_rows.h"
#include "backends/cpu/tasks/epilogue.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

using task::GemmTask;

struct GemmPlan : Prepared {
  Epilogue epilogue;
  AlignedFloats packed;  // of an immutable b that the plan left as it was; else empty
};

int64_t inner_extent(const GemmTask& task, const TaskContext& context) {
  const task::SlotInfo& a = context.slot(task.a.id);
  return a.dims[a.rank - 1];
}

/// The planes of one tile: a [m, k], b [k, n] whichever way it lies, bias [n], c [m, n].
struct Tile {
  task::Box box;
  Plane a, b, c;
  int64_t first_col = 0;
};

/// The part of a or b that the batch coordinates of `box` name, last two dims whole.
Plane batch_plane(const TaskContext& context, task::SlotId id, const task::Box& box) {
  const task::SlotInfo& slot = context.slot(id);
  task::Box part = task::Box::whole(slot);
  const size_t shift = box.begin.size() - slot.rank;
  for (size_t d = 0; d + 2 < slot.rank; ++d) {
    if (slot.dims[d] == 1) continue;
    part.begin[d] = box.begin[d + shift];
    part.end[d] = box.end[d + shift];
  }
  return plane_of(window(context, id, part));
}

Tile make_tile(const GemmTask& task, const TaskContext& context, int64_t i) {
  Tile tile;
  tile.box = task.tile(context.slots, i);
  const size_t row = tile.box.begin.size() - 2;
  tile.c = plane_of(window(context, task.c.id, tile.box));
  tile.first_col = tile.box.begin[row + 1];
  tile.a = batch_plane(context, task.a.id, tile.box);
  tile.a.data += tile.box.begin[row] * tile.a.row_stride;
  tile.a.rows = tile.c.rows;
  if (context.slot(task.b.id).layout != task::Layout::kStrided) return tile;
  tile.b = batch_plane(context, task.b.id, tile.box);
  if (task.transpose_b != 0) {
    std::swap(tile.b.rows, tile.b.cols);
    std::swap(tile.b.row_stride, tile.b.col_stride);
  }
  tile.b.data += tile.first_col * tile.b.col_stride;
  tile.b.cols = tile.c.cols;
  return tile;
}

/// The last b that was packed into scratch: neighbours in a column of tiles share it.
struct PackedColumns {
  const std::byte* source = nullptr;
  float* panels = nullptr;
};

class FloatGemm {
 public:
  FloatGemm(const GemmTask& task, const TaskContext& context)
      : task_(task),
        context_(context),
        kernels_(*context.kernels),
        plan_(*static_cast<const GemmPlan*>(context.prepared)),
        k_(inner_extent(task, context)),
        bias_(vector_of(context, task.bias.id)) {
    const task::SlotInfo& b = context.slot(task.b.id);
    if (b.layout == task::Layout::kPanels) {
      panels_ = reinterpret_cast<const float*>(context.addresses[task::index(task.b.id)]);
    } else if (!plan_.packed.empty()) {
      panels_ = plan_.packed.data();
    }
    const task::SlotInfo& c = context.slot(task.c.id);
    n_ = c.dims[c.rank - 1];
  }

  void run(int64_t i) {
    const Tile tile = make_tile(task_, context_, i);
    if (panels_ == nullptr) pack(tile);
    const ScratchScope scope(*context_.scratch);
    const FloatResult result(*context_.scratch, tile.c);
    multiply(tile, result);
    if (task_.alpha != 1.0F) scale(tile, result);
    if (plan_.epilogue.empty()) {
      result.store(kernels_, tile.c);
    } else {
      plan_.epilogue.run(context_, tile.box, result.data, result.ld);
    }
  }

 private:
  const float* bias_of(const Tile& tile) const {
    return bias_ != nullptr ? bias_ + tile.first_col : nullptr;
  }

  /// Packs columns that do not lie side by side; they outlive the tile, in the caller's scope.
  void pack(const Tile& tile) {
    const Plane& b = tile.b;
    if (b.dtype != DType::kF32 || b.col_stride == 4 || b.data == packed_.source) return;
    if (packed_.panels == nullptr) {
      packed_.panels = context_.scratch->take<float>(kernels_.packed_b_elems(k_, b.cols));
    }
    kernels_.pack_b(reinterpret_cast<const float*>(b.data), b.row_stride / 4, b.col_stride / 4, k_,
                    b.cols, packed_.panels);
    packed_.source = b.data;
  }

  void multiply(const Tile& tile, const FloatResult& result) const {
    const Rows<float> a = rows_of<float>(kernels_, *context_.scratch, tile.a);
    GemmArgs args{.m = tile.c.rows, .n = tile.c.cols, .k = k_, .a = a.data, .lda = a.ld};
    args.bias = task_.alpha == 1.0F ? bias_of(tile) : nullptr;
    args.c = result.data;
    args.ldc = result.ld;
    if (panels_ != nullptr) return multiply_panels(tile, args);
    if (tile.b.data == packed_.source) {
      args.b = packed_.panels;
      return kernels_.gemm(args);
    }
    const Rows<float> b = rows_of<float>(kernels_, *context_.scratch, tile.b);
    args.b = b.data;
    args.ldb = b.ld;
    kernels_.gemm_row_major_b(args);
  }

  /// Columns of a tile that does not begin or end with a panel are computed with their neighbours.
  void multiply_panels(const Tile& tile, GemmArgs args) const {
    const int64_t nr = kernels_.gemm_nr;
    const int64_t first = tile.first_col / nr * nr;
    const int64_t last = std::min(n_, (tile.first_col + args.n + nr - 1) / nr * nr);
    args.b = panels_ + first * k_;
    if (first == tile.first_col && last == first + args.n) return kernels_.gemm(args);
    const int64_t skip = tile.first_col - first, n = args.n;
    float* const c = args.c;
    const int64_t ldc = args.ldc;
    args.n = last - first;
    args.c = context_.scratch->take<float>(args.m * args.n);
    args.ldc = args.n;
    if (args.bias != nullptr) args.bias -= skip;
    kernels_.gemm(args);
    for (int64_t r = 0; r < args.m; ++r) {
      std::copy_n(args.c + r * args.ldc + skip, n, c + r * ldc);
    }
  }

  void scale(const Tile& tile, const FloatResult& result) const {
    const float* bias = bias_of(tile);
    for (int64_t r = 0; r < tile.c.rows; ++r) {
      float* row = result.data + r * result.ld;
      kernels_.binary.mul.vs(row, task_.alpha, row, tile.c.cols);
      if (bias != nullptr) kernels_.binary.add.vv(row, bias, row, tile.c.cols);
    }
  }

  const GemmTask& task_;
  const TaskContext& context_;
  const Kernels& kernels_;
  const GemmPlan& plan_;
  const int64_t k_;
  int64_t n_ = 0;
  const float* bias_;
  const float* panels_ = nullptr;
  PackedColumns packed_;
};

/// f64 and integers: rows of c, k ascending. Integers wrap in 64 bits.
template <class Lane>
void run_plain(const GemmTask& task, const TaskContext& context, int64_t i) {
  using Sum = std::conditional_t<std::is_same_v<Lane, int64_t>, uint64_t, Lane>;
  const ScratchScope scope(*context.scratch);
  Scratch& scratch = *context.scratch;
  const Kernels& kernels = *context.kernels;
  const auto& plan = *static_cast<const GemmPlan*>(context.prepared);
  const Tile tile = make_tile(task, context, i);
  const int64_t m = tile.c.rows, n = tile.c.cols, k = tile.a.cols;
  const Rows<Lane> a = rows_of<Lane>(kernels, scratch, tile.a);
  const Rows<Lane> b = rows_of<Lane>(kernels, scratch, tile.b);
  auto* bias = scratch.take<Lane>(n);
  std::fill_n(bias, n, Lane{0});
  if (task.bias.id != task::kNoSlot) {
    const Window w = whole_window(context, task.bias.id);
    load_lane(kernels, w.dtype, w.data + tile.first_col * w.back_stride(0), w.back_stride(0), n,
              bias);
  }
  auto* c = scratch.take<Lane>(m * n);
  auto* sums = scratch.take<Sum>(n);
  for (int64_t r = 0; r < m; ++r) {
    std::fill_n(sums, n, Sum{0});
    for (int64_t l = 0; l < k; ++l) {
      const Sum left = static_cast<Sum>(a.data[r * a.ld + l]);
      for (int64_t j = 0; j < n; ++j) sums[j] += left * static_cast<Sum>(b.data[l * b.ld + j]);
    }
    for (int64_t j = 0; j < n; ++j) {
      auto sum = static_cast<Lane>(sums[j]);
      if (task.alpha != 1.0F) sum = convert<Lane>(static_cast<double>(sum) * task.alpha);
      c[r * n + j] = static_cast<Lane>(static_cast<Sum>(sum) + static_cast<Sum>(bias[j]));
    }
  }
  if (!plan.epilogue.empty()) return plan.epilogue.run(context, tile.box, c, n);
  for (int64_t r = 0; r < m; ++r) {
    store_lane(kernels, tile.c.dtype, c + r * n, n, tile.c.data + r * tile.c.row_stride,
               tile.c.col_stride);
  }
}

/// A weight that came unpacked from a portable plan.
bool should_pack(const GemmTask& task, const TaskContext& context) {
  const task::SlotInfo& b = context.slot(task.b.id);
  return b.immutable() && b.layout == task::Layout::kStrided && b.rank == 2 &&
         is_stored_in_full(context, task.b.id) && b.dtype == DType::kF32 &&
         context.addresses[task::index(task.b.id)] != nullptr &&
         task::lane_of(context.slot(task.a.id).dtype) == task::Lane::kF32;
}

}  // namespace

Result<PreparedPtr> prepare(const GemmTask& task, const TaskContext& context) {
  auto plan = std::make_unique<GemmPlan>();
  plan->epilogue = TRY(Epilogue::make(context, task.epilogue, task.extra, task.c.id,
                                      task::lane_of(context.slot(task.a.id).dtype)));
  const task::SlotInfo& c = context.slot(task.c.id);
  TRY(check_panels(
      context, task.b.id, task::lane_of(context.slot(task.a.id).dtype),
      context.kernels->packed_b_elems(inner_extent(task, context), c.dims[c.rank - 1])));
  if (should_pack(task, context)) {
    Plane b = plane_of(whole_window(context, task.b.id));
    if (task.transpose_b != 0) {
      std::swap(b.rows, b.cols);
      std::swap(b.row_stride, b.col_stride);
    }
    plan->packed = AlignedFloats(context.kernels->packed_b_elems(b.rows, b.cols));
    context.kernels->pack_b(reinterpret_cast<const float*>(b.data), b.row_stride / 4,
                            b.col_stride / 4, b.rows, b.cols, plan->packed.data());
  }
  return PreparedPtr(std::move(plan));
}

Result<void> run(const GemmTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  const task::Lane lane = task::lane_of(context.slot(task.a.id).dtype);
  if (lane != task::Lane::kF32) {
    for (int64_t i = begin; i < end; ++i) {
      if (lane == task::Lane::kF64) {
        run_plain<double>(task, context, i);
      } else {
        run_plain<int64_t>(task, context, i);
      }
    }
    return {};
  }
  // Down the columns of tiles, so that columns packed for one tile serve the ones below it.
  const task::Box first = task.tile(context.slots, 0);
  const size_t col = first.end.size() - 1;
  const int64_t n = context.slot(task.c.id).dims[col];
  const int64_t col_blocks = (n + first.end[col] - 1) / first.end[col];
  const ScratchScope scope(*context.scratch);
  FloatGemm gemm(task, context);
  for (int64_t phase = 0; phase < col_blocks; ++phase) {
    const int64_t skip = (phase - begin % col_blocks + col_blocks) % col_blocks;
    for (int64_t i = begin + skip; i < end; i += col_blocks) gemm.run(i);
  }
  return {};
}

}  // namespace tw::cpu
