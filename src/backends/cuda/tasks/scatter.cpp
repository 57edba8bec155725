// scatter: updates that can meet are compared pair by pair (kernels/scatter.cuh says why), which is
// cheap for what models do and declined where it is not.
#include <cstddef>

#include "backends/cuda/kernels/scatter_params.h"
#include "backends/cuda/tasks/strided_loop.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

using task::ScatterTask;
using task::SlotInfo;

constexpr int64_t kMaxCount = 0x7fffffff;
// Some milliseconds; a CPU, which goes through the updates once, is faster beyond.
constexpr int64_t kMaxPairs = int64_t{1} << 33;

Error too_many(int64_t n, int64_t meeting) {
  return error(Code::kUnsupported, "scatter of ", n, " updates, of which ", meeting,
               " may meet in one place, is too large for the CUDA form");
}

/// The kernel's name and types; `type`: of an element.
std::string source_of(const ScatterTask& task, std::string_view kernel, std::string_view params,
                      std::string_view type, std::string_view index_type) {
  constexpr std::string_view kHow[] = {"kReplace", "kAdd", "kMul", "kMin", "kMax"};
  return cat("#include \"base.cuh\"\n#include \"scatter.cuh\"\n\n",
             "extern \"C\" __global__ void __launch_bounds__(kScatterThreads)\n",
             "    tw_kernel(const __grid_constant__ ", params, " p) {\n  ", kernel, "<", type, ", ",
             index_type, ", ScatterCombine::", kHow[static_cast<size_t>(task.combine)],
             ">(p);\n}\n");
}

template <class Params>
Launch scatter_launch(const ScatterTask& task, const std::string& source, const Params& params) {
  Launch launch = make_launch(source, params);
  point_at(launch, offsetof(Params, y), task.y.id);
  point_at(launch, offsetof(Params, index), task.index.id);
  point_at(launch, offsetof(Params, updates), task.updates.id);
  launch.threads = kScatterThreads;
  return launch;
}

/// Elements that are only replaced may be of any type of their size.
std::string_view element_type(const ScatterTask& task, const SlotInfo& y) {
  return task.combine == ScatterTask::Combine::kReplace ? bits_type(size_bytes(y.dtype))
                                                        : device_type(y.dtype);
}

Launches scatter_elements(const ScatterTask& task, const TaskView& view) {
  const SlotInfo &y = view.slot(task.y.id), &index = view.slot(task.index.id),
                 &updates = view.slot(task.updates.id);
  const auto axis = static_cast<size_t>(task.axis);
  ScatterElementsParams p{};
  p.check.task = view.record.seq;
  p.n = index.count();
  p.n_axis = index.dims[axis];
  if (p.n > kMaxCount || p.n * p.n_axis > kMaxPairs) return too_many(p.n, p.n_axis);
  p.axis = make_divider(p.n_axis);
  for (size_t d = 0; d < index.rank; ++d) {
    if (d == axis || index.dims[d] == 1) continue;
    p.dims[p.rank] = make_divider(index.dims[d]);
    p.y_strides[p.rank] = y.strides[d];
    p.index_strides[p.rank] = index.strides[d];
    p.update_strides[p.rank] = updates.strides[d];
    ++p.rank;
  }
  p.extent = y.dims[axis];
  p.y_axis = y.strides[axis];
  p.index_axis = index.strides[axis];
  p.update_axis = updates.strides[axis];
  Launch launch = scatter_launch(task,
                                 source_of(task, "scatter_elements", "ScatterElementsParams",
                                           element_type(task, y), device_type(index.dtype)),
                                 p);
  launch.grid[0] = static_cast<uint32_t>((p.n + kScatterThreads - 1) / kScatterThreads);
  return std::vector<Launch>{launch};
}

/// Columns of an update: the dims of y behind those that a tuple names.
void fill_columns(ScatterNdParams& p, const SlotInfo& y, const SlotInfo& updates) {
  p.n_columns = 1;
  for (size_t d = static_cast<size_t>(p.depth); d < y.rank; ++d) {
    const size_t u = static_cast<size_t>(updates.rank) - y.rank + d;
    p.n_columns *= y.dims[d];
    if (y.dims[d] == 1) continue;
    const int last = p.column_rank - 1;
    const bool joins = last >= 0 && p.y_columns[last] == y.strides[d] * y.dims[d] &&
                       p.update_columns[last] == updates.strides[u] * y.dims[d];
    const int to = joins ? last : p.column_rank++;
    const auto before = joins ? static_cast<int64_t>(p.column_dims[to].size) : 1;
    p.column_dims[to] = make_divider(before * y.dims[d]);
    p.y_columns[to] = y.strides[d];
    p.update_columns[to] = updates.strides[u];
  }
}

/// Replacing: columns side by side move in units of up to 16 bytes. Returns the unit's type.
std::string_view widen_columns(ScatterNdParams& p, const SlotInfo& y, const SlotInfo& updates) {
  const int64_t element = size_bytes(y.dtype);
  const bool side_by_side = p.column_rank == 1 && p.y_columns[0] == 1 && p.update_columns[0] == 1;
  if (!side_by_side) return bits_type(element);
  int64_t unit = 16;
  const auto whole = [&](int64_t elements) { return elements * element % unit == 0; };
  const auto all_whole = [&] {
    bool all = whole(p.n_columns) && y.offset_in_root() % unit == 0 &&
               updates.offset_in_root() % unit == 0;
    for (int d = 0; d < p.depth; ++d) all = all && whole(p.steps[d]);
    for (int d = 0; d < p.rank; ++d) all = all && whole(p.update_strides[d]);
    return all;
  };
  while (unit > element && !all_whole()) unit /= 2;
  const int64_t factor = unit / element;
  p.n_columns /= factor;
  p.column_dims[0] = make_divider(p.n_columns);
  for (int d = 0; d < p.depth; ++d) p.steps[d] /= factor;
  for (int d = 0; d < p.rank; ++d) p.update_strides[d] /= factor;
  return unit == 16 ? "uint4" : bits_type(unit);
}

Launches scatter_nd(const ScatterTask& task, const TaskView& view) {
  const SlotInfo &y = view.slot(task.y.id), &index = view.slot(task.index.id),
                 &updates = view.slot(task.updates.id);
  ScatterNdParams p{};
  p.check.task = view.record.seq;
  p.n = 1;
  for (size_t d = 0; d + 1 < index.rank; ++d) {
    p.n *= index.dims[d];
    if (index.dims[d] == 1) continue;
    p.dims[p.rank] = make_divider(index.dims[d]);
    p.index_strides[p.rank] = index.strides[d];
    p.update_strides[p.rank] = updates.strides[d];
    ++p.rank;
  }
  p.depth = static_cast<int>(index.dims[index.rank - 1]);
  p.tuple_stride = index.strides[index.rank - 1];
  for (int d = 0; d < p.depth; ++d) {
    p.extents[d] = y.dims[d];
    p.steps[d] = y.strides[d];
  }
  fill_columns(p, y, updates);
  if (p.n == 0 || p.n_columns == 0) return std::vector<Launch>{};
  const bool replaces = task.combine == ScatterTask::Combine::kReplace;
  const std::string_view type = replaces ? widen_columns(p, y, updates) : device_type(y.dtype);
  constexpr int64_t kColumns = int64_t{kScatterThreads} * kScatterColumns;
  const int64_t n_slices = (p.n_columns + kColumns - 1) / kColumns;
  if (p.n > kMaxCount || p.n * n_slices > kMaxPairs / p.n) return too_many(p.n, p.n);
  if (n_slices > 65535 || p.n_columns > kMaxCount)
    return error(Code::kUnsupported, "scatter of rows of ", p.n_columns,
                 " elements has no CUDA form");
  Launch launch = scatter_launch(
      task, source_of(task, "scatter_nd", "ScatterNdParams", type, device_type(index.dtype)), p);
  launch.grid = {static_cast<uint32_t>(p.n), static_cast<uint32_t>(n_slices), 1};
  return std::vector<Launch>{launch};
}

}  // namespace

Launches launch_task(const ScatterTask& task, const TaskView& view) {
  const SlotInfo& y = view.slot(task.y.id);
  if (element_type(task, y).empty())
    return error(Code::kUnsupported, "scatter that combines ", y.dtype, " has no CUDA form");
  if (view.slot(task.updates.id).count() == 0) return std::vector<Launch>{};
  return task.kind == ScatterTask::Kind::kElements ? scatter_elements(task, view)
                                                   : scatter_nd(task, view);
}

}  // namespace tw::cuda
