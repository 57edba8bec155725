#include "backends/cpu/points/plan.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {

Result<PreparedPtr> prepare(const task::ElementwiseTask& task, const TaskContext& context) {
  PointPlan::Types inputs, outputs;
  for (const task::In x : task.x) {
    if (x.id != task::kNoSlot) inputs.push_back(context.slot(x.id).dtype);
  }
  for (const task::Out y : task.y) {
    if (y.id != task::kNoSlot) outputs.push_back(context.slot(y.id).dtype);
  }
  return PreparedPtr(TRY(make_point_plan(context.side, task.program, inputs, outputs)));
}

Result<void> run(const task::ElementwiseTask& task, const TaskContext& context, int64_t begin,
                 int64_t end) {
  const auto& plan = *static_cast<const PointPlan*>(context.prepared);
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    FixedList<Window, LoopNest::kMaxWindows> inputs, outputs;
    for (const task::In x : task.x) {
      if (x.id != task::kNoSlot) inputs.push_back(broadcast_window(context, x.id, box));
    }
    for (const task::Out y : task.y) {
      if (y.id != task::kNoSlot) outputs.push_back(window(context, y.id, box));
    }
    run_points(plan, *context.kernels, *context.scratch, box.begin, {inputs.data(), inputs.size()},
               {outputs.data(), outputs.size()});
  }
  return {};
}

}  // namespace tw::cpu
