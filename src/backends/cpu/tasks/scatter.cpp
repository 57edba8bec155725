// scatter: one task, in index order, since duplicates may meet in one element.
#include <algorithm>

#include "backends/cpu/tasks/indices.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

using task::ScatterTask;
using Combine = ScatterTask::Combine;

template <class Value>
Value combine(Combine how, Value old, Value update) {
  switch (how) {
    case Combine::kReplace:
      break;
    case Combine::kAdd:
      return static_cast<Value>(old + update);
    case Combine::kMul:
      return static_cast<Value>(old * update);
    case Combine::kMin:
      return old != old || old < update ? old : update;
    case Combine::kMax:
      return old != old || old > update ? old : update;
  }
  return update;
}

/// Integer sums and products that leave their type wrap.
template <class Value>
auto widened(Value value) {
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    return static_cast<uint64_t>(value);
  } else {
    return value;
  }
}

/// The element at `to` becomes itself combined with the one at `update`.
void combine_at(DType dtype, Combine how, std::byte* to, const std::byte* update) {
  with_element(dtype, [&]<class Element>(Element) {
    using Bits = typename Element::Bits;
    using Value = typename Element::Value;
    auto* bits = reinterpret_cast<Bits*>(to);
    const Bits update_bits = *reinterpret_cast<const Bits*>(update);
    if (how == Combine::kReplace) {
      *bits = update_bits;
      return;
    }
    const Value a = Element::get(*bits), b = Element::get(update_bits);
    if (how == Combine::kAdd || how == Combine::kMul) {
      *bits = Element::put(static_cast<Value>(combine(how, widened(a), widened(b))));
    } else {
      *bits = Element::put(combine(how, a, b));
    }
  });
}

/// y[c with index[c] at `axis`] = updates[c]
Result<void> elements(const ScatterTask& task, const TaskContext& context) {
  const auto axis = static_cast<size_t>(task.axis);
  Window y = whole_window(context, task.y.id);
  const Window index = whole_window(context, task.index.id);
  const Window updates = whole_window(context, task.updates.id);
  const int64_t stride = y.strides[axis];
  IndexReader reader(index.dtype, y.dims[axis], axis);
  // y without its axis: the coordinate there comes from the index.
  y.strides[axis] = 0;
  y.dims = index.dims;
  const std::array<Window, 3> windows = {y, index, updates};
  const LoopNest nest(index.dims, windows);
  nest.for_each(0, [&](const auto& at) {
    const int64_t i = reader.read(at[1]);
    if (!reader.bad()) combine_at(y.dtype, task.combine, at[0] + i * stride, at[2]);
  });
  return reader.status();
}

/// y[index[j.., :].., k..] = updates[j.., k..]
Result<void> nd(const ScatterTask& task, const TaskContext& context) {
  const Window y = whole_window(context, task.y.id);
  const Window index = whole_window(context, task.index.id);
  const Window updates = whole_window(context, task.updates.id);
  const size_t n_index_dims = index.dims.size() - 1;
  const auto depth = static_cast<size_t>(index.dims[n_index_dims]);
  const std::array<Window, 2> outer = {dims_of(index, 0, n_index_dims),
                                       dims_of(updates, 0, n_index_dims)};
  const std::array<Window, 2> inner = {dims_of(y, depth, y.dims.size()),
                                       dims_of(updates, n_index_dims, updates.dims.size())};
  const LoopNest outer_nest(outer[0].dims, outer);
  LoopNest inner_nest(inner[1].dims, inner);
  CoordinateReader reader(index, y, 0, depth);
  outer_nest.for_each(0, [&](const auto& at) {
    const int64_t offset = reader.offset(at[0]);
    if (reader.bad()) return;
    inner_nest.data = {y.data + offset, at[1]};
    inner_nest.for_each(0,
                        [&](const auto& to) { combine_at(y.dtype, task.combine, to[0], to[1]); });
  });
  return reader.status();
}

}  // namespace

Result<void> run(const ScatterTask& task, const TaskContext& context, int64_t, int64_t) {
  if (task.kind == ScatterTask::Kind::kElements) return elements(task, context);
  return nd(task, context);
}

}  // namespace tw::cpu
