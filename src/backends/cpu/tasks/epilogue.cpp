#include "backends/cpu/tasks/epilogue.h"

namespace tw::cpu {

Result<Epilogue> Epilogue::make(const TaskContext& context, task::SideOffset offset,
                                const Extra& extra, task::SlotId result, task::Lane lane) {
  Epilogue epilogue;
  if (offset == task::kNoProgram) return epilogue;
  epilogue.extra_ = extra;
  epilogue.result_ = result;
  epilogue.sum_type_ = lane == task::Lane::kF32   ? DType::kF32
                       : lane == task::Lane::kF64 ? DType::kF64
                                                  : DType::kI64;
  PointPlan::Types inputs = {epilogue.sum_type_};
  for (const task::In operand : extra) {
    if (operand.id != task::kNoSlot) inputs.push_back(context.slot(operand.id).dtype);
  }
  const PointPlan::Types outputs = {context.slot(result).dtype};
  epilogue.plan_ = TRY(make_point_plan(context.side, offset, inputs, outputs));
  return epilogue;
}

void Epilogue::run(const TaskContext& context, const task::Box& box, void* sums, int64_t ld) const {
  FixedList<Window, 8> inputs;
  const Window y = window(context, result_, box);
  // The rows of the sums are `ld` apart, whatever the dims before the last.
  Window sum{static_cast<std::byte*>(sums), sum_type_, y.dims, {}};
  sum.strides.resize(y.dims.size());
  int64_t stride = size_bytes(sum_type_);
  for (size_t d = y.dims.size(); d-- > 0;) {
    sum.strides[d] = stride;
    stride = d + 1 == y.dims.size() ? ld * size_bytes(sum_type_) : stride * y.dims[d];
  }
  inputs.push_back(sum);
  for (const task::In operand : extra_) {
    if (operand.id != task::kNoSlot) inputs.push_back(broadcast_window(context, operand.id, box));
  }
  run_points(*plan_, *context.kernels, *context.scratch, box.begin, {inputs.data(), inputs.size()},
             {&y, 1});
}

}  // namespace tw::cpu
