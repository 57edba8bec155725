// reduce: rows when x's fastest dim is reduced, columns when it is kept. How a sum is cut follows
// from its own length, so that its bits do not depend on how many others there are.
#include <bit>
#include <cstddef>
#include <limits>

#include "backends/cuda/kernels/reduce_params.h"
#include "backends/cuda/tasks/tasks.h"
#include "task/pointwise.h"

namespace tw::cuda {
namespace {

using task::ReduceTask;
using task::SlotInfo;
using Kind = ReduceTask::Kind;

constexpr std::string_view kKindNames[] = {"kSum",       "kMean",   "kMax", "kMin",       "kProd",
                                           "kSumSquare", "kSumAbs", "kL2",  "kLogSumExp", "kLogSum",
                                           "kArgMax",    "kArgMin", "kAny", "kAll"};
static_assert(std::size(kKindNames) == static_cast<size_t>(ReduceKind::kAll) + 1);
static_assert(static_cast<int>(ReduceKind::kAll) == static_cast<int>(Kind::kAll));

/// The dims of x of more than one element, slowest first.
struct Split {
  std::vector<Axis<2>> kept;     // x, y
  std::vector<Axis<1>> reduced;  // x
  int64_t n_kept = 1, n_reduced = 1;
  bool rows = false;  // the fastest dim is reduced
};

/// Places that repeat an element come first: along them nothing is gained by being fast.
uint64_t slowness(int64_t stride) {
  return stride == 0 ? std::numeric_limits<uint64_t>::max()
                     : static_cast<uint64_t>(std::abs(stride));
}

Split split(const ReduceTask& task, const SlotInfo& x, const SlotInfo& y) {
  Split s;
  for (int d = 0; d < x.rank; ++d) {
    const bool is_reduced = (task.axes >> d & 1U) != 0;
    (is_reduced ? s.n_reduced : s.n_kept) *= x.dims[d];
    if (x.dims[d] == 1) continue;
    if (is_reduced)
      s.reduced.push_back({x.dims[d], {x.strides[d]}});
    else
      s.kept.push_back({x.dims[d], {x.strides[d], y.strides[d]}});
  }
  const auto slower = [](const auto& a, const auto& b) {
    return slowness(a.strides[0]) > slowness(b.strides[0]);
  };
  std::stable_sort(s.kept.begin(), s.kept.end(), slower);
  std::stable_sort(s.reduced.begin(), s.reduced.end(), slower);
  s.rows = !s.reduced.empty() && (s.kept.empty() || slower(s.kept.back(), s.reduced.back()));
  return s;
}

/// What an extreme of no integers is: the end of the stored type.
int64_t empty_extreme(Kind kind, DType dtype) {
  if (!is_int(dtype)) return kind == Kind::kMax ? 0 : 1;  // bool
  const auto bits = static_cast<int>(size_bytes(dtype)) * 8;
  const bool is_signed = is_signed_int(dtype);
  const auto highest = ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  if (kind == Kind::kMin) return static_cast<int64_t>(highest);
  return is_signed ? -static_cast<int64_t>(highest) - 1 : 0;
}

/// The lane of the kernel, by its name in CUDA C.
std::string_view lane_name(Kind kind, DType dtype) {
  const task::Lane lane = task::lane_of(dtype);
  if (lane == task::Lane::kF32) return "float";
  const bool is_real = kind == Kind::kL2 || kind == Kind::kLogSum || kind == Kind::kLogSumExp;
  if (lane == task::Lane::kF64 || is_real) return "double";
  return dtype == DType::kU64 ? "uint64_t" : "int64_t";
}

std::string call(std::string_view function, const ReduceTask& task, DType x, DType y, bool whole) {
  return cat(function, "<tw::cuda::ReduceKind::", kKindNames[static_cast<size_t>(task.kind)], ", ",
             lane_name(task.kind, x), ", ", device_type(x), ", ", device_type(y), ", ",
             task.last_index != 0, ", ", whole, ">");
}

template <int kOperands>
Nest<kOperands> without_last(Nest<kOperands> nest) {
  nest.rank = std::max(0, nest.rank - 1);
  return nest;
}

Launch rows_launch(const ReduceTask& task, const SlotInfo& x, const SlotInfo& y, const Split& s) {
  const Nest<1> all = make_nest<1>(s.reduced);
  const int64_t n_run = all.dims[all.rank - 1].divisor, width = chunk_width(x.dtype);
  const int64_t run_chunks = (n_run + width - 1) / width;
  ReduceRowsParams p{};
  p.rows = make_nest<2>(s.kept);
  p.runs = without_last(all);
  p.x_step = all.strides[0][all.rank - 1];
  p.empty = empty_extreme(task.kind, x.dtype);
  p.run_chunks = make_divisor(run_chunks);
  p.n_rows = static_cast<int>(s.n_kept);
  p.n_runs = static_cast<int>(s.n_reduced == 0 ? 0 : s.n_reduced / n_run);
  p.n_run = static_cast<int>(n_run);
  const int64_t n_chunks = p.n_runs * run_chunks;
  p.cluster = n_chunks >= 16384 ? 8 : 1;
  if (n_chunks <= 256)
    p.team = static_cast<int>(std::bit_ceil(std::clamp<uint64_t>(n_chunks, 1, 32)));
  else
    p.team = n_chunks <= 2048 ? 256 : kTeamThreads;
  const bool whole = is_whole(x, n_run, p.x_step, static_cast<int>(width), strides_of(p.rows, 0)) &&
                     is_whole(x, n_run, p.x_step, static_cast<int>(width), strides_of(p.runs, 0));
  Launch launch = make_launch(kernel_unit("reduce_rows.cuh", "ReduceRowsParams", kTeamThreads,
                                          call("reduce_rows", task, x.dtype, y.dtype, whole)),
                              p);
  launch.threads = team_threads(p.team, s.n_kept);
  launch.cluster = static_cast<uint32_t>(p.cluster);
  launch.grid[0] = team_blocks(p.team, s.n_kept) * launch.cluster;
  point_at(launch, offsetof(ReduceRowsParams, x), task.x.id);
  point_at(launch, offsetof(ReduceRowsParams, y), task.y.id);
  return launch;
}

/// Rows from which on a cluster of blocks shares them.
constexpr int64_t kManyRows = 2048;

/// Threads of a block along `n_rows` rows.
int column_threads_y(int64_t n_rows) {
  if (n_rows <= 4) return 1;
  if (n_rows <= 16) return 4;
  if (n_rows <= 256) return 8;
  return n_rows < kManyRows ? 32 : 128;
}

Launch columns_launch(const ReduceTask& task, const SlotInfo& x, const SlotInfo& y,
                      const Split& s) {
  const Nest<2> all = make_nest<2>(s.kept);
  const bool is_one = all.rank == 0;
  const int64_t n_columns = is_one ? 1 : all.dims[all.rank - 1].divisor;
  const int64_t n_groups = s.n_kept / n_columns, width = chunk_width(x.dtype);
  ReduceColumnsParams p{};
  p.groups = without_last(all);
  p.rows = make_nest<1>(s.reduced);
  p.x_step = is_one ? 0 : all.strides[0][all.rank - 1];
  p.y_step = is_one ? 0 : all.strides[1][all.rank - 1];
  p.empty = empty_extreme(task.kind, x.dtype);
  p.n_rows = static_cast<int>(s.n_reduced);
  p.n_columns = static_cast<int>(n_columns);
  p.threads_y = column_threads_y(s.n_reduced);
  p.cluster = s.n_reduced >= kManyRows ? 8 : 1;
  // Columns have no say in a sum's order: as many beside each other as are useful, fewer (but whole
  // sectors of 32 bytes) while there are processors without a block.
  const int64_t chunks = (n_columns + width - 1) / width;
  const auto blocks = [&] { return (chunks + p.threads_x - 1) / p.threads_x; };
  p.threads_x = std::min(kColumnThreads / p.threads_y, 128);
  while (p.threads_x > 1 && p.threads_x / 2 >= chunks) p.threads_x /= 2;
  while (p.threads_x > 2 && n_groups * blocks() * p.cluster < 132) p.threads_x /= 2;
  p.threads_x = std::max(p.threads_x, 32 / p.threads_y);
  p.column_blocks = make_divisor(blocks());
  const bool whole =
      is_whole(x, n_columns, p.x_step, static_cast<int>(width), strides_of(p.groups, 0)) &&
      is_whole(x, n_columns, p.x_step, static_cast<int>(width), strides_of(p.rows, 0));
  Launch launch =
      make_launch(kernel_unit("reduce_columns.cuh", "ReduceColumnsParams", kColumnThreads,
                              call("reduce_columns", task, x.dtype, y.dtype, whole)),
                  p);
  launch.threads = static_cast<uint32_t>(p.threads_x * p.threads_y);
  launch.cluster = static_cast<uint32_t>(p.cluster);
  launch.grid[0] = static_cast<uint32_t>(n_groups * blocks()) * launch.cluster;
  point_at(launch, offsetof(ReduceColumnsParams, x), task.x.id);
  point_at(launch, offsetof(ReduceColumnsParams, y), task.y.id);
  return launch;
}

}  // namespace

Launches launch_task(const ReduceTask& task, const TaskView& view) {
  const SlotInfo &x = view.slot(task.x.id), &y = view.slot(task.y.id);
  if (device_type(x.dtype).empty() || device_type(y.dtype).empty())
    return error(Code::kUnsupported, "reduce of ", x.dtype, " into ", y.dtype, " has no CUDA form");
  if (y.count() == 0) return std::vector<Launch>{};
  const Split s = split(task, x, y);
  if (s.n_kept > kMaxIndex / 8 || s.n_reduced > kMaxIndex / 2)
    return error(Code::kUnsupported, "reduce of ", s.n_reduced, " elements into each of ", s.n_kept,
                 " passes 32-bit indices");
  return std::vector<Launch>{s.rows ? rows_launch(task, x, y, s) : columns_launch(task, x, y, s)};
}

}  // namespace tw::cuda
