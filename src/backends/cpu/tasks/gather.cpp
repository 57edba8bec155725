// gather: a loop over the boxes of y; every index is checked where it is read, since indices are
// data.
#include <cstring>

#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/indices.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

using task::GatherTask;

/// A box of y as three groups of dims: before the index dims, the index dims, behind them.
struct Groups {
  task::Box before, middle, behind;
};

task::Box part(const task::Box& box, size_t first, size_t last) {
  task::Box out;
  for (size_t d = first; d < last; ++d) {
    out.begin.push_back(box.begin[d]);
    out.end.push_back(box.end[d]);
  }
  return out;
}

/// y[i.., j.., k..] = x[i.., index[j..], k..]
Result<void> take(const GatherTask& task, const TaskContext& context, const task::Box& box) {
  const auto axis = static_cast<size_t>(task.axis);
  const size_t n_index_dims = context.slot(task.index.id).rank;
  const size_t rank = box.begin.size();
  const Groups groups{part(box, 0, axis), part(box, axis, axis + n_index_dims),
                      part(box, axis + n_index_dims, rank)};
  // x narrowed to the box before and behind the axis, y cut into the same groups.
  task::Box x_box = groups.before;
  x_box.begin.push_back(0);
  x_box.end.push_back(context.slot(task.x.id).dims[axis]);
  for (size_t d = 0; d < groups.behind.begin.size(); ++d) {
    x_box.begin.push_back(groups.behind.begin[d]);
    x_box.end.push_back(groups.behind.end[d]);
  }
  const Window x = window(context, task.x.id, x_box), y = window(context, task.y.id, box);
  const Window index = window(context, task.index.id, groups.middle);
  const size_t x_rank = x.dims.size();
  const std::array<Window, 2> outer = {dims_of(x, 0, axis), dims_of(y, 0, axis)};
  const std::array<Window, 2> middle = {index, dims_of(y, axis, axis + n_index_dims)};
  const std::array<Window, 2> inner = {dims_of(x, axis + 1, x_rank),
                                       dims_of(y, axis + n_index_dims, rank)};
  const LoopNest outer_nest(outer[0].dims, outer), index_nest(index.dims, middle);
  LoopNest inner_nest(inner[0].dims, inner);
  const size_t last = inner_nest.rank - 1;
  const int64_t element = y.element_bytes();
  const bool runs =
      (inner_nest.strides[0][last] == element && inner_nest.strides[1][last] == element) ||
      inner_nest.dims[last] == 1;
  const auto run_bytes = static_cast<size_t>(runs ? inner_nest.dims[last] * element : element);
  IndexReader reader(index.dtype, context.slot(task.x.id).dims[axis], axis);
  outer_nest.for_each(0, [&](const auto& base) {
    index_nest.for_each(0, [&](const auto& at) {
      const int64_t i = reader.read(at[0]);
      if (reader.bad()) return;
      inner_nest.data = {base[0] + i * x.strides[axis], base[1] + (at[1] - middle[1].data)};
      inner_nest.for_each(runs ? 1 : 0,
                          [&](const auto& to) { std::memcpy(to[1], to[0], run_bytes); });
    });
  });
  return reader.status();
}

/// y[c] = x[c with index[c] at `axis`]
Result<void> elements(const GatherTask& task, const TaskContext& context, const task::Box& box) {
  const auto axis = static_cast<size_t>(task.axis);
  // x without its axis: the coordinate there comes from the index.
  Window x = whole_window(context, task.x.id);
  const int64_t stride = x.strides[axis], extent = x.dims[axis];
  x.strides[axis] = 0;
  for (size_t d = 0; d < x.dims.size(); ++d) x.data += box.begin[d] * x.strides[d];
  const Window y = window(context, task.y.id, box), index = window(context, task.index.id, box);
  x.dims = y.dims;
  const std::array<Window, 3> windows = {x, index, y};
  const LoopNest nest(y.dims, windows);
  const auto bytes = static_cast<size_t>(y.element_bytes());
  IndexReader reader(index.dtype, extent, axis);
  nest.for_each(0, [&](const auto& at) {
    const int64_t i = reader.read(at[1]);
    if (!reader.bad()) std::memcpy(at[2], at[0] + i * stride, bytes);
  });
  return reader.status();
}

/// y[b.., j.., k..] = x[b.., index[b.., j.., :].., k..]
Result<void> nd(const GatherTask& task, const TaskContext& context, const task::Box& box) {
  const auto batch = static_cast<size_t>(task.batch_dims);
  const Window x = whole_window(context, task.x.id), index = whole_window(context, task.index.id);
  const Window y = window(context, task.y.id, box);
  const size_t n_index_dims = index.dims.size() - 1;
  const auto depth = static_cast<size_t>(index.dims[n_index_dims]);
  const size_t rank = box.begin.size();
  // For each place of index: x moves along the batch dims only.
  task::Box index_box = part(box, 0, n_index_dims);
  index_box.begin.push_back(0);
  index_box.end.push_back(index.dims[n_index_dims]);
  const Window places = dims_of(window(context, task.index.id, index_box), 0, n_index_dims);
  Window x_batch{x.data, x.dtype, places.dims, {}};
  for (size_t d = 0; d < n_index_dims; ++d) {
    x_batch.strides.push_back(d < batch ? x.strides[d] : 0);
    x_batch.data += box.begin[d] * x_batch.strides[d];
  }
  std::array<Window, 2> inner = {dims_of(x, batch + depth, x.dims.size()),
                                 dims_of(y, n_index_dims, rank)};
  for (size_t d = 0; d < inner[0].dims.size(); ++d) {
    x_batch.data += box.begin[n_index_dims + d] * inner[0].strides[d];
    inner[0].dims[d] = inner[1].dims[d];
  }
  const std::array<Window, 3> outer = {x_batch, places, dims_of(y, 0, n_index_dims)};
  const LoopNest outer_nest(places.dims, outer);
  LoopNest inner_nest(inner[1].dims, inner);
  const auto bytes = static_cast<size_t>(y.element_bytes());
  CoordinateReader reader(index, x, batch, depth);
  outer_nest.for_each(0, [&](const auto& at) {
    const int64_t offset = reader.offset(at[1]);
    if (reader.bad()) return;
    inner_nest.data = {at[0] + offset, at[2]};
    inner_nest.for_each(0, [&](const auto& to) { std::memcpy(to[1], to[0], bytes); });
  });
  return reader.status();
}

}  // namespace

Result<void> run(const GatherTask& task, const TaskContext& context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    switch (task.kind) {
      case GatherTask::Kind::kTake:
        TRY(take(task, context, box));
        break;
      case GatherTask::Kind::kElements:
        TRY(elements(task, context, box));
        break;
      case GatherTask::Kind::kNd:
        TRY(nd(task, context, box));
        break;
    }
  }
  return {};
}

}  // namespace tw::cpu
