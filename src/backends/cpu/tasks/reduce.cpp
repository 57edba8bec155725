// reduce: f32 goes through the vector kernels in one of two orders, chosen by the axes alone. Rows:
// the last dim is reduced; the reduced dims at the end make one row, which the kernel sums, and
// rows of further reduced dims follow one another. Columns: the last dim is kept; rows are added to
// a row of sums, in blocks. Everything else (f64, integers, positions) takes the elements of one
// result at a time.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/reduce_values.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"

namespace tw::cpu {
namespace {

using task::ReduceTask;
using Kind = ReduceTask::Kind;

/// x's part of a tile as a window over kept dims and one over reduced dims; y over the kept ones.
struct Split {
  std::array<Window, 2> kept;  // x, y
  Window reduced;              // x
  int64_t length = 1;          // elements a result is made of
};

Split split(const ReduceTask& task, const TaskContext& context, const task::Box& box) {
  Split s;
  task::Box part = box;
  for (size_t d = 0; d < part.begin.size(); ++d) {
    if ((task.axes >> d & 1U) == 0) continue;
    part.begin[d] = 0;
    part.end[d] = context.slot(task.x.id).dims[d];
  }
  const Window x = window(context, task.x.id, part), y = window(context, task.y.id, box);
  s.kept = {Window{x.data, x.dtype, {}, {}}, Window{y.data, y.dtype, {}, {}}};
  s.reduced = {x.data, x.dtype, {}, {}};
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if ((task.axes >> d & 1U) != 0) {
      s.reduced.dims.push_back(x.dims[d]);
      s.reduced.strides.push_back(x.strides[d]);
      s.length *= x.dims[d];
    } else {
      s.kept[0].dims.push_back(x.dims[d]);
      s.kept[0].strides.push_back(x.strides[d]);
      s.kept[1].strides.push_back(y.strides[d]);
    }
  }
  s.kept[1].dims = s.kept[0].dims;
  return s;
}

/// The kernels of a kind whose parts combine by one operation; null where there is none.
struct SumKernels {
  ReduceFn row = nullptr;
  AccumulateFn accumulate = nullptr, combine = nullptr;
  float start = 0;
};

SumKernels sum_kernels(const Kernels& k, Kind kind) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (kind) {
    case Kind::kSum:
    case Kind::kMean:
    case Kind::kLogSum:
      return {k.reduce.sum, k.accumulate.sum, k.accumulate.sum, 0};
    case Kind::kSumSquare:
    case Kind::kL2:
      return {k.reduce.sum_sq, k.accumulate.sum_sq, k.accumulate.sum, 0};
    case Kind::kSumAbs:
      return {k.reduce.sum_abs, k.accumulate.sum_abs, k.accumulate.sum, 0};
    case Kind::kMax:
      return {k.reduce.max, k.accumulate.max, k.accumulate.max, -kInfinity};
    case Kind::kMin:
      return {k.reduce.min, k.accumulate.min, k.accumulate.min, kInfinity};
    case Kind::kProd:
      return {k.reduce.prod, k.accumulate.prod, k.accumulate.prod, 1};
    default:
      return {};
  }
}

float finish(Kind kind, float value, int64_t length) {
  switch (kind) {
    case Kind::kMean:
      return value / static_cast<float>(length);
    case Kind::kL2:
      return std::sqrt(value);
    case Kind::kLogSum:
      return std::log(value);
    default:
      return value;
  }
}

/// How many of the last dims of x are reduced.
size_t reduced_suffix(const ReduceTask& task, size_t rank) {
  size_t n = 0;
  while (n < rank && (task.axes >> (rank - 1 - n) & 1U) != 0) ++n;
  return n;
}

/// The last `n` dims of a window as contiguous floats.
const float* flat(const Kernels& kernels, const Window& w, float* buffer) {
  const LoopNest nest(w.dims, {&w, 1});
  const size_t last = nest.rank - 1;
  if (nest.rank == 1 && w.dtype == DType::kF32 && (nest.strides[0][0] == 4 || nest.dims[0] == 1)) {
    return w.as<const float>();
  }
  float* to = buffer;
  nest.for_each(1, [&](const auto& at) {
    load_lane(kernels, w.dtype, at[0], nest.strides[0][last], nest.dims[last], to);
    to += nest.dims[last];
  });
  return buffer;
}

void run_rows(const ReduceTask& task, const TaskContext& context, const Split& s, size_t suffix) {
  const Kernels& kernels = *context.kernels;
  const SumKernels sum = sum_kernels(kernels, task.kind);
  const size_t n_outer = s.reduced.dims.size() - suffix;
  const Window outer = dims_of(s.reduced, 0, n_outer);
  Window row = dims_of(s.reduced, n_outer, s.reduced.dims.size());
  const int64_t row_length = row.count();
  const ScratchScope scope(*context.scratch);
  auto* buffer = context.scratch->take<float>(row_length);
  const LoopNest kept_nest(s.kept[0].dims, s.kept);
  LoopNest outer_nest(outer.dims, {&outer, 1});
  kept_nest.for_each(0, [&](const auto& at) {
    float total = sum.start;
    bool first = true;
    outer_nest.data[0] = at[0];
    outer_nest.for_each(0, [&](const auto& start) {
      row.data = start[0];
      const float part = sum.row(flat(kernels, row, buffer), row_length);
      if (first) {
        total = part;
      } else {
        sum.combine(&part, &total, 1);
      }
      first = false;
    });
    const float value = finish(task.kind, total, s.length);
    store_lane(kernels, s.kept[1].dtype, &value, 1, at[1], 0);
  });
}

// A sum of many rows is made of sums of this many, which keeps its error small.
constexpr int64_t kRowsInBlock = 256;

void run_columns(const ReduceTask& task, const TaskContext& context, const Split& s) {
  const Kernels& kernels = *context.kernels;
  const SumKernels sum = sum_kernels(kernels, task.kind);
  const int64_t cols = s.kept[0].back_dim(0), x_stride = s.kept[0].back_stride(0);
  const ScratchScope scope(*context.scratch);
  auto* total = context.scratch->take<float>(cols);
  auto* block = context.scratch->take<float>(cols);
  auto* buffer = context.scratch->take<float>(cols);
  const bool direct = s.kept[0].dtype == DType::kF32 && (x_stride == 4 || cols == 1);
  LoopNest reduced_nest(s.reduced.dims, {&s.reduced, 1});
  const LoopNest kept_nest(s.kept[0].dims, s.kept, false);
  kept_nest.for_each(1, [&](const auto& at) {
    std::fill_n(total, cols, sum.start);
    int64_t in_block = 0;
    reduced_nest.data[0] = at[0];
    reduced_nest.for_each(0, [&](const auto& row) {
      if (in_block == 0) std::fill_n(block, cols, sum.start);
      if (!direct) load_lane(kernels, s.kept[0].dtype, row[0], x_stride, cols, buffer);
      sum.accumulate(direct ? reinterpret_cast<const float*>(row[0]) : buffer, block, cols);
      if (++in_block < kRowsInBlock) return;
      sum.combine(block, total, cols);
      in_block = 0;
    });
    if (in_block > 0) sum.combine(block, total, cols);
    for (int64_t c = 0; c < cols; ++c) total[c] = finish(task.kind, total[c], s.length);
    store_lane(kernels, s.kept[1].dtype, total, cols, at[1], s.kept[1].back_stride(0));
  });
}

template <class Lane>
void run_values(const ReduceTask& task, const TaskContext& context, const Split& s) {
  const Kernels& kernels = *context.kernels;
  const ScratchScope scope(*context.scratch);
  auto* values = context.scratch->take<Lane>(s.length);
  LoopNest reduced_nest(s.reduced.dims, {&s.reduced, 1});
  const size_t last = reduced_nest.rank - 1;
  const LoopNest kept_nest(s.kept[0].dims, s.kept);
  kept_nest.for_each(0, [&](const auto& at) {
    Lane* to = values;
    reduced_nest.data[0] = at[0];
    reduced_nest.for_each(1, [&](const auto& row) {
      load_lane(kernels, s.reduced.dtype, row[0], reduced_nest.strides[0][last],
                reduced_nest.dims[last], to);
      to += reduced_nest.dims[last];
    });
    reduce_values(task, kernels, s.reduced.dtype, values, s.length, s.kept[1].dtype, at[1]);
  });
}

}  // namespace

Result<void> run(const ReduceTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  const task::SlotInfo& x = context.slot(task.x.id);
  const task::Lane lane = task::lane_of(x.dtype);
  const size_t suffix = reduced_suffix(task, x.rank);
  const bool has_kernel = sum_kernels(*context.kernels, task.kind).row != nullptr;
  for (int64_t i = begin; i < end; ++i) {
    const Split s = split(task, context, task.tile(context.slots, i));
    if (lane == task::Lane::kF64) {
      run_values<double>(task, context, s);
    } else if (lane == task::Lane::kI64) {
      run_values<int64_t>(task, context, s);
    } else if (!has_kernel) {
      run_values<float>(task, context, s);
    } else if (suffix > 0 || s.kept[0].dims.empty()) {
      run_rows(task, context, s, suffix);
    } else {
      run_columns(task, context, s);
    }
  }
  return {};
}

}  // namespace tw::cpu
