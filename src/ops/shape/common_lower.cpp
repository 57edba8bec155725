#include "ops/shape/common_lower.h"

#include <algorithm>
#include <string>

namespace tw::ops {

using task::Lane;
using task::PointInstr;
using task::PointOp;
using task::SlotId;

CodeWriter::CodeWriter(size_t n_inputs) {
  program_.n_inputs = static_cast<uint8_t>(n_inputs);
  program_.n_registers = program_.n_inputs;
}

uint8_t CodeWriter::add(PointInstr instr) {
  CHECK(program_.n_registers < task::kMaxPointRegisters, "programs of this folder are short");
  instr.dst = program_.n_registers++;
  program_.code.push_back(instr);
  return instr.dst;
}

uint8_t CodeWriter::index(size_t axis) {
  PointInstr instr;
  instr.op = PointOp::kIndex;
  instr.lane = Lane::kI64;
  instr.dtype = DType::kI64;
  instr.imm_int = static_cast<int64_t>(axis);
  return add(instr);
}

uint8_t CodeWriter::literal(int64_t value) {
  PointInstr instr;
  instr.op = PointOp::kLiteral;
  instr.lane = Lane::kI64;
  instr.dtype = DType::kI64;
  instr.imm_int = value;
  return add(instr);
}

uint8_t CodeWriter::literal(const Tensor& value) {
  const Lane lane = task::lane_of(value.dtype());
  if (lane == Lane::kI64) return literal(value.int_at(0));
  PointInstr instr;
  instr.op = PointOp::kLiteral;
  instr.lane = lane;
  instr.dtype = value.dtype();
  instr.imm_double = value.float_at(0);
  return add(instr);
}

uint8_t CodeWriter::ints(PointOp op_, uint8_t a, uint8_t b, uint8_t c) {
  return op(op_, DType::kI64, a, b, c);
}

uint8_t CodeWriter::op(PointOp op_, DType dtype, uint8_t a, uint8_t b, uint8_t c) {
  PointInstr instr;
  instr.op = op_;
  instr.lane = task::lane_of(dtype);
  instr.dtype = dtype;
  instr.a = a;
  instr.b = b;
  instr.c = c;
  return add(instr);
}

uint8_t CodeWriter::cast(uint8_t from, DType from_type, DType to_type) {
  PointInstr instr;
  instr.op = PointOp::kCast;
  instr.lane = task::lane_of(from_type);
  instr.dtype = to_type;
  instr.a = from;
  return add(instr);
}

task::PointProgram CodeWriter::finish(std::initializer_list<uint8_t> outputs) {
  program_.outputs = outputs;
  return std::move(program_);
}

void emit_program(LowerContext& c, const task::PointProgram& program,
                  std::initializer_list<SlotId> x, std::initializer_list<SlotId> y) {
  task::ElementwiseTask task;
  size_t i = 0;
  for (const SlotId slot : x) task.x[i++] = {slot};
  i = 0;
  for (const SlotId slot : y) task.y[i++] = {slot};
  task.program = c.add_program(program);
  c.emit(task);
}

void emit_copy(LowerContext& c, SlotId from, SlotId to) {
  c.emit(task::CopyTask{.x = {from}, .y = {to}});
}

void emit_fill(LowerContext& c, const Tensor& value, SlotId to) {
  CodeWriter code(0);
  const uint8_t element = code.literal(value);
  emit_program(c, code.finish({element}), {}, {to});
}

void set_out_window(LowerContext& c, size_t i, SlotId window) {
  const ir::Shape dims = c.dims(window);
  const std::vector<Dim> strides = c.strides(window);
  Dim expected(1);
  bool row_major = true;
  for (size_t d = dims.size(); d-- > 0;) {
    row_major = row_major && (dims[d] == Dim(1) || strides[d] == expected);
    expected = expected * dims[d];
  }
  if (row_major)
    c.set_out(i, window);
  else
    emit_copy(c, window, c.out(i));
}

SlotId int_temp(LowerContext& c, const Dim& count) { return c.temp({DType::kI64, {count}}); }

SlotId dims_as_data(LowerContext& c, const std::vector<Dim>& dims) {
  std::vector<int64_t> numbers;
  for (const Dim& dim : dims) numbers.push_back(dim.known().value_or(0));
  const SlotId constants = c.constant(Tensor::from_ints(numbers));
  if (std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_constant(); }))
    return constants;
  const SlotId data = int_temp(c, static_cast<int64_t>(dims.size()));
  const int64_t one_value = 1;
  const SlotId one = c.constant(Tensor::from_ints({&one_value, 1}));
  for (size_t k = 0; k < dims.size(); ++k) {
    const Dim at(static_cast<int64_t>(k));
    const SlotId element = c.slice(data, 0, at, 1);
    if (dims[k].is_constant()) {
      emit_copy(c, c.slice(constants, 0, at, 1), element);
      continue;
    }
    task::ReduceTask count;
    count.x = {c.view(one, {dims[k]}, {Dim(0)}, c.offset(one))};
    count.y = {element};
    count.axes = 1;
    count.kind = task::ReduceTask::Kind::kSum;
    c.emit(count);
  }
  return data;
}

SlotId emit_product(LowerContext& c, SlotId factors) {
  const SlotId product = int_temp(c, 1);
  task::ReduceTask reduce;
  reduce.x = {factors};
  reduce.y = {product};
  reduce.axes = 1;
  reduce.kind = task::ReduceTask::Kind::kProd;
  c.emit(reduce);
  return product;
}

Result<void> bind_fresh(LowerContext& c, const std::vector<Dim>& dims, SlotId sizes) {
  std::vector<std::string> symbols;
  for (const Dim& dim : dims) {
    const auto symbol = dim.as_symbol();
    if (!symbol)
      return error(Code::kInternal, "size ", dim,
                   " follows from data, expected a symbol of its own");
    symbols.push_back(*symbol);
  }
  if (!symbols.empty()) c.bind_symbols(symbols, sizes);
  return {};
}

}  // namespace tw::ops
