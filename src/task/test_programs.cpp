#include "task/test_programs.h"

namespace tw::task {
namespace {

std::vector<Dim> row_major(const std::vector<Dim>& dims) {
  std::vector<Dim> strides(dims.size(), Dim(1));
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

SideOffset add_program(Draft& draft, PointOp op, uint8_t n_inputs) {
  PointProgram program;
  program.n_inputs = n_inputs;
  program.n_registers = static_cast<uint8_t>(n_inputs + 1);
  PointInstr instr;
  instr.op = op;
  instr.dst = n_inputs;
  instr.b = static_cast<uint8_t>(n_inputs - 1);
  program.code = {instr};
  program.outputs = {n_inputs};
  draft.side.resize((draft.side.size() + 7) / 8 * 8);
  const auto offset = static_cast<SideOffset>(draft.side.size());
  append_bytes(program, draft.side);
  return offset;
}

}  // namespace

SlotId DraftBuilder::root(Space space, std::vector<Dim> dims, std::string name, DType dtype) {
  Draft::Slot slot;
  slot.info.space = space;
  slot.info.dtype = dtype;
  slot.info.root = static_cast<SlotId>(draft.slots.size());
  if (space == Space::kInput || space == Space::kWeight) slot.info.flags |= SlotInfo::kImmutable;
  Dim count(size_bytes(dtype));
  for (const Dim& dim : dims) count = count * dim;
  slot.strides = row_major(dims);
  slot.dims = std::move(dims);
  slot.storage_bytes = count;
  slot.name = std::move(name);
  draft.slots.push_back(std::move(slot));
  return draft.slots.back().info.root;
}

SlotId DraftBuilder::view(SlotId of, std::vector<Dim> dims, std::vector<Dim> strides, Dim offset) {
  Draft::Slot slot = draft.slots[index(of)];
  slot.dims = std::move(dims);
  slot.strides = std::move(strides);
  slot.offset_elems = std::move(offset);
  draft.slots.push_back(std::move(slot));
  return static_cast<SlotId>(draft.slots.size() - 1);
}

SlotId DraftBuilder::input(std::vector<Dim> dims, std::string name) {
  draft.inputs.push_back(root(Space::kInput, std::move(dims), std::move(name)));
  return draft.inputs.back();
}

SlotId DraftBuilder::output(std::vector<Dim> dims, std::string name) {
  draft.outputs.push_back(root(Space::kOutput, std::move(dims), std::move(name)));
  return draft.outputs.back();
}

void DraftBuilder::unary(SlotId x, SlotId y, const std::string& name) {
  ElementwiseTask task;
  task.x[0].id = x;
  task.y[0].id = y;
  task.program = add_program(draft, PointOp::kRelu, 1);
  emit(task, name);
}

void DraftBuilder::add(SlotId a, SlotId b, SlotId y, const std::string& name) {
  ElementwiseTask task;
  task.x[0].id = a;
  task.x[1].id = b;
  task.y[0].id = y;
  task.program = add_program(draft, PointOp::kAdd, 2);
  emit(task, name);
}

Draft diamond(const Dim& rows) {
  DraftBuilder b;
  const std::vector<Dim> dims{rows, Dim(64)};
  const SlotId x = b.input(dims, "x"), left = b.temp(dims, "left"), right = b.temp(dims, "right");
  const SlotId sum = b.temp(dims, "sum"), last = b.temp(dims, "last"), y = b.output(dims, "y");
  b.unary(x, left, "left");
  b.unary(x, right, "right");
  b.add(left, right, sum, "sum");
  b.unary(sum, last, "last");
  b.add(last, x, y, "y");
  return b.draft;
}

Draft two_gemms(int64_t rows) {
  DraftBuilder b;
  const Dim m(rows), k(96), n(512);
  const SlotId x = b.input({m, k}, "x"), w1 = b.input({k, n}, "w1"), w2 = b.input({n, k}, "w2");
  const SlotId h = b.temp({m, n}, "h"), p = b.temp({m, n}, "p"), y = b.output({m, k}, "y");
  GemmTask first;
  first.a.id = x, first.b.id = w1, first.c.id = h;
  b.emit(first, "first");
  SoftmaxTask softmax;
  softmax.x.id = h, softmax.y.id = p;
  b.emit(softmax, "softmax");
  GemmTask second;
  second.a.id = p, second.b.id = w2, second.c.id = y;
  b.emit(second, "second");
  return b.draft;
}

}  // namespace tw::task
