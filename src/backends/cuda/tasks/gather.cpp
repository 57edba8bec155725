// gather: take, elements and nd are one loop over the result: x and index repeat along the dims
// that are not theirs, and a tuple of index moves x.
#include "backends/cuda/kernels/gather_params.h"
#include "backends/cuda/tasks/strided_loop.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

using task::GatherTask;
using task::SlotInfo;

/// What a tuple's numbers count.
struct Tuple {
  int64_t stride = 0;  // between its numbers
  Dims extents, steps;
};

struct Parts {
  Dims x, index;  // strides by dim of the result
  Tuple tuple;
};

int64_t stride_of(const SlotInfo& slot, size_t d) {
  return slot.dims[d] == 1 ? 0 : slot.strides[d];
}

void push_strides(Dims& to, const SlotInfo& slot, size_t first, size_t last) {
  for (size_t d = first; d < last; ++d) to.push_back(stride_of(slot, d));
}
void push_zeros(Dims& to, size_t count) {
  for (size_t d = 0; d < count; ++d) to.push_back(0);
}

/// y[i.., j.., k..] = x[i.., index[j..], k..]
Parts take(const SlotInfo& x, const SlotInfo& index, size_t axis) {
  Parts parts;
  push_strides(parts.x, x, 0, axis);
  push_zeros(parts.x, index.rank);
  push_strides(parts.x, x, axis + 1, x.rank);
  push_zeros(parts.index, axis);
  push_strides(parts.index, index, 0, index.rank);
  push_zeros(parts.index, x.rank - axis - 1);
  parts.tuple = {0, {x.dims[axis]}, {x.strides[axis]}};
  return parts;
}

/// y[c] = x[c with index[c] at `axis`]. x may be larger than index along the other dims.
Parts elements(const SlotInfo& x, const SlotInfo& index, size_t axis) {
  Parts parts;
  push_strides(parts.index, index, 0, index.rank);
  for (size_t d = 0; d < x.rank; ++d)
    parts.x.push_back(d == axis || index.dims[d] == 1 ? 0 : x.strides[d]);
  parts.tuple = {0, {x.dims[axis]}, {x.strides[axis]}};
  return parts;
}

/// y[b.., j.., k..] = x[b.., index[b.., j.., :].., k..]
Parts nd(const SlotInfo& x, const SlotInfo& index, size_t batch) {
  Parts parts;
  const size_t last = index.rank - 1U;
  const auto depth = static_cast<size_t>(index.dims[last]);
  push_strides(parts.x, x, 0, batch);
  push_zeros(parts.x, last - batch);
  push_strides(parts.x, x, batch + depth, x.rank);
  push_strides(parts.index, index, 0, last);
  push_zeros(parts.index, x.rank - batch - depth);
  parts.tuple.stride = index.strides[last];
  for (size_t d = batch; d < batch + depth; ++d) {
    parts.tuple.extents.push_back(x.dims[d]);
    parts.tuple.steps.push_back(x.strides[d]);
  }
  return parts;
}

Parts take_apart(const GatherTask& task, const TaskView& view) {
  const SlotInfo &x = view.slot(task.x.id), &index = view.slot(task.index.id);
  const auto axis = static_cast<size_t>(task.axis);
  if (task.kind == GatherTask::Kind::kTake) return take(x, index, axis);
  if (task.kind == GatherTask::Kind::kElements) return elements(x, index, axis);
  return nd(x, index, static_cast<size_t>(task.batch_dims));
}

LoopOperand operand_with(const TaskView& view, task::SlotId id, const Dims& strides) {
  LoopOperand operand = loop_operand(view, id);
  operand.type = bits_type(operand.element_bytes);
  operand.strides = strides;
  return operand;
}

/// The kernel's source; `by_row`: one tuple a row.
std::string source_of(const StridedLoop& loop, const LoopPlan& plan, std::string_view index_type,
                      bool by_row) {
  const std::string x = by_row ? piece_type(loop, 0) : std::string(loop.operands[0].type);
  return cat("#include \"base.cuh\"\n#include \"gather.cuh\"\n\ntemplate <int kN>\nusing Work = ",
             by_row ? "RowGather<" : "ElementGather<", index_type, ", ", x, ", ",
             piece_type(loop, 2), ", kN>;\n", loop_kernel(plan, "GatherParams"));
}

}  // namespace

Launches launch_task(const GatherTask& task, const TaskView& view) {
  const Parts parts = take_apart(task, view);
  std::vector<LoopOperand> operands = {
      operand_with(view, task.x.id, parts.x), operand_with(view, task.index.id, parts.index),
      operand_with(view, task.y.id, loop_operand(view, task.y.id).strides)};
  operands[0].steps = parts.tuple.steps;
  operands[2].is_output = true;
  StridedLoop loop = make_loop(view.slot(task.y.id).shape(), operands);
  if (loop.empty()) return std::vector<Launch>{};
  const bool by_row = loop.row_stride(1) == 0;
  if (by_row && loop.row_stride(0) == 1 && loop.row_stride(2) == 1) count_in_bytes(loop, {0, 2});
  const LoopPlan plan = plan_loop(loop);
  const std::string_view index_type = device_type(view.slot(task.index.id).dtype);
  return std::vector<Launch>{loop_launch<GatherParams>(
      loop, plan, source_of(loop, plan, index_type, by_row), [&](auto& params) {
        params.check.task = view.record.seq;
        params.depth = static_cast<int>(parts.tuple.extents.size());
        params.tuple_stride = parts.tuple.stride;
        for (size_t d = 0; d < parts.tuple.extents.size(); ++d) {
          params.extents[d] = parts.tuple.extents[d];
          params.steps[d] = loop.operands[0].steps[d];
        }
      })};
}

}  // namespace tw::cuda
