#include "backends/cpu/core.h"

#include <algorithm>

#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

struct Runner {
  const TaskContext& context;
  int64_t begin, end;

  Result<void> operator()(const task::JoinTask&) const { return {}; }
  template <class Task>
  Result<void> operator()(const Task& task) const {
    return run(task, context, begin, end);
  }
};

struct Preparer {
  const TaskContext& context;

  template <class Task>
  Result<PreparedPtr> operator()(const Task& task) const {
    if constexpr (requires { tw::cpu::prepare(task, context); }) {
      return tw::cpu::prepare(task, context);
    } else {
      return PreparedPtr();
    }
  }
};

/// Rough costs of one thread: what matters is the order of magnitude. In doubles, since products of
/// sizes that are fine by themselves pass 2^63.
struct Estimator {
  task::Slots slots;
  double count(task::SlotId id) const {
    return static_cast<double>(slots[task::index(id)].count());
  }

  static double products(double n) { return n / 32; }
  static double elements(double n) { return n / 2; }

  double operator()(const task::JoinTask&) const { return 0; }
  double operator()(const task::GemmTask& t) const {
    const task::SlotInfo& a = slots[task::index(t.a.id)];
    return products(count(t.c.id) * static_cast<double>(a.dims[a.rank - 1]));
  }
  double operator()(const task::ConvTask& t) const {
    const int64_t co = std::max<int64_t>(1, slots[task::index(t.w.id)].dims[0]);
    return products(count(t.y.id) * count(t.w.id) / static_cast<double>(co));
  }
  double operator()(const task::PoolTask& t) const {
    return elements(count(t.y.id)) * t.kernel[0] * t.kernel[1] * t.kernel[2] / 4;
  }
  double operator()(const task::AttentionTask& t) const {
    return products(2 * count(t.q.id) * static_cast<double>(slots[task::index(t.k.id)].dims[1]));
  }
  double operator()(const task::NormTask& t) const { return elements(count(t.y.id)); }
  double operator()(const task::SoftmaxTask& t) const { return elements(count(t.y.id)); }
  double operator()(const task::ElementwiseTask& t) const { return elements(count(t.y[0].id)); }
  double operator()(const task::ReduceTask& t) const { return elements(count(t.x.id)) / 2; }
  double operator()(const task::GatherTask& t) const { return elements(count(t.y.id)); }
  double operator()(const task::ScatterTask& t) const { return elements(count(t.updates.id)); }
  double operator()(const task::CopyTask& t) const { return elements(count(t.y.id)); }
  double operator()(const task::ResizeTask& t) const { return 4 * count(t.y.id); }
  double operator()(const task::RecurrentTask& t) const { return count(t.w.id); }
  double operator()(const task::NonZeroTask& t) const { return count(t.x.id); }
  double operator()(const task::SortTask& t) const { return 16 * count(t.x.id); }
  double operator()(const task::ScanTask& t) const { return count(t.x.id); }
};

}  // namespace

Result<void> check_panels(const TaskContext& context, task::SlotId id, task::Lane lane,
                          int64_t n_floats) {
  const task::SlotInfo& slot = context.slot(id);
  if (slot.layout != task::Layout::kPanels) return {};
  if (lane != task::Lane::kF32)
    return error(Code::kCorrupt, "packed weight in slot ", task::index(id),
                 " of a task that computes in another type than f32");
  const int64_t wanted = n_floats * static_cast<int64_t>(sizeof(float));
  if (slot.dtype == DType::kF32 && !slot.is_view() && slot.storage_bytes >= wanted) return {};
  return error(Code::kCorrupt, "packed weight in slot ", task::index(id), ": found ",
               slot.storage_bytes, " bytes of ", slot.dtype, slot.is_view() ? " in a view" : "",
               ", expected ", wanted, " of f32");
}

bool is_stored_in_full(const TaskContext& context, task::SlotId id) {
  const task::SlotInfo& slot = context.slot(id);
  return slot.count() * size_bytes(slot.dtype) <= context.slot(slot.root).storage_bytes;
}

Result<std::unique_ptr<Prepared>> prepare(const task::Record& record, const TaskContext& context) {
  return task::visit(record, Preparer{context});
}

Result<void> run_tiles(const task::Record& record, const TaskContext& context, int64_t tile_begin,
                       int64_t tile_end) {
  if (tile_begin >= tile_end) return {};
  if (context.prepared != nullptr) {
    return task::visit(record, Runner{context, tile_begin, tile_end});
  }
  const PreparedPtr prepared = TRY(prepare(record, context));
  TaskContext own = context;
  own.prepared = prepared.get();
  return task::visit(record, Runner{own, tile_begin, tile_end});
}

int64_t estimate_ns(const task::Record& record, task::Slots slots) {
  constexpr double kCenturyNs = 3e18;
  return static_cast<int64_t>(std::min(kCenturyNs, task::visit(record, Estimator{slots})));
}

}  // namespace tw::cpu
