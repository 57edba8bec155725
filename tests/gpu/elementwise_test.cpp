// elementwise_test.cpp: how loops are cut (rows, repeats, strides, rests, coordinates); what the
// operations compute is in points_test.cpp.
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::instr;
using cpu::Lie;
using cpu::Net;
using task::Lane;
using task::PointInstr;
using task::PointOp;

/// Three roundings of values up to 2.
double tolerance_of(DType dtype) {
  return dtype == DType::kF16 ? 4e-3 : dtype == DType::kBF16 ? 3e-2 : 4e-6;
}

struct Case {
  Dims a, b, y;
  Lie lie = Lie::kDense;
};

/// y = a * b - b
void expect_broadcast(const Case& c, DType dtype) {
  SCOPED_TRACE(cat(join(c.a, "x"), " ", join(c.b, "x"), " ", dtype));
  Net net(11);
  task::ElementwiseTask task;
  task.x[0].id = net.add(dtype, c.a, c.lie);
  task.x[1].id = net.add(dtype, c.b, c.lie);
  task.y[0].id = net.add(dtype, c.y, c.lie);
  const Lane lane = task::lane_of(dtype);
  task.program = net.add_program(
      2, {3}, {instr(PointOp::kMul, lane, 2, 0, 1), instr(PointOp::kSub, lane, 3, 2, 1)});
  net.add_task(task);
  expect_same_on_device(net, task.y[0].id, tolerance_of(dtype));
}

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16,
                            DType::kF64, DType::kI32, DType::kU8};

TEST(ElementwiseOnDevice, OperandsOfTheSameDimsAreOneRow) {
  for (const DType dtype : kTypes) {
    expect_broadcast({{7, 600}, {7, 600}, {7, 600}}, dtype);
    expect_broadcast({{3, 67}, {3, 67}, {3, 67}}, dtype);
    expect_broadcast({{50, 60}, {50, 60}, {50, 60}, Lie::kTurned}, dtype);
    expect_broadcast({{2, 9}, {}, {2, 9}}, dtype);
    expect_broadcast({{1}, {1}, {1}}, dtype);
    expect_broadcast({{}, {}, {}}, dtype);
    expect_broadcast({{1, 1, 1}, {1}, {1, 1, 1}}, dtype);
    expect_broadcast({{0, 4}, {4}, {0, 4}}, dtype);
  }
}

TEST(ElementwiseOnDevice, OperandsRepeatAlongRows) {
  for (const DType dtype : kTypes) {
    expect_broadcast({{7, 640}, {640}, {7, 640}}, dtype);
    expect_broadcast({{300, 5}, {5}, {300, 5}}, dtype);
    expect_broadcast({{300, 6}, {300, 1}, {300, 6}}, dtype);
    expect_broadcast({{50, 62}, {62}, {50, 62}, Lie::kGaps}, dtype);
  }
}

TEST(ElementwiseOnDevice, OperandsRepeatAlongAnyDims) {
  const Case cases[] = {
      {{2, 1, 40, 3}, {1, 6, 1, 3}, {2, 6, 40, 3}},
      {{2, 6, 40, 3}, {2, 6, 1, 1}, {2, 6, 40, 3}},
      {{2, 3, 4, 5, 16}, {3, 1, 5, 1}, {2, 3, 4, 5, 16}},
      {{2, 1, 2, 1, 3, 1, 2, 5}, {1, 3, 1, 2, 1, 2, 1, 5}, {2, 3, 2, 2, 3, 2, 2, 5}},
      {{5, 1}, {1, 7}, {5, 7}},
      {{4, 5, 8}, {5, 1}, {4, 5, 8}, Lie::kTurned}};
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI64})
    for (const Case& c : cases) expect_broadcast(c, dtype);
}

TEST(ElementwiseOnDevice, DimsOfOperandsMayLieInAnyOrder) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kU8}) {
    SCOPED_TRACE(cat(dtype));
    Net net(17);
    task::ElementwiseTask task;
    task.x[0].id = net.add(dtype, {6, 35, 40}, Lie::kTurned);
    task.x[1].id = net.add(dtype, {6, 35, 40}, Lie::kGaps);
    task.y[0].id = net.add(dtype, {6, 35, 40});
    task.program = net.add_program(2, {2}, {instr(PointOp::kAdd, task::lane_of(dtype), 2, 0, 1)});
    net.add_task(task);
    expect_same_on_device(net, task.y[0].id, tolerance_of(dtype));
  }
}

TEST(ElementwiseOnDevice, AViewThatBeginsAnywhereIsReadAndWritten) {
  for (const int64_t first : {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{8}}) {
    SCOPED_TRACE(first);
    Net net(18);
    const task::SlotId whole = net.add(DType::kF16, {5, 96});
    const task::SlotId result = net.add(DType::kF16, {5, 96});
    const auto window_of = [&](task::SlotId root) {
      task::SlotInfo info = net.slot(root);
      info.flags = task::SlotInfo::kView;
      info.root = root;
      info.offset_bytes = first * 2;
      info.dims[1] = 80;
      net.program.slots.push_back(info);
      net.program.slot_names.push_back("view");
      net.memory.emplace_back();
      return static_cast<task::SlotId>(net.program.slots.size() - 1);
    };
    task::ElementwiseTask task;
    task.x[0].id = window_of(whole);
    task.y[0].id = window_of(result);
    task.program = net.add_program(1, {1}, {instr(PointOp::kNeg, Lane::kF32, 1, 0)});
    net.add_task(task);
    expect_same_on_device(net, result, 0);
  }
}

TEST(ElementwiseOnDevice, TypesOfOperandsMayDiffer) {
  Net net(19);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF16, {9, 48});
  task.x[1].id = net.add(DType::kF32, {48});
  task.x[2].id = net.add(DType::kBool, {9, 48});
  task.y[0].id = net.add(DType::kBF16, {9, 48});
  task.y[1].id = net.add(DType::kBool, {9, 48});
  task.program = net.add_program(
      3, {4, 5},
      {instr(PointOp::kMul, Lane::kF32, 3, 0, 1), instr(PointOp::kWhere, Lane::kF32, 4, 2, 3, 0),
       instr(PointOp::kLess, Lane::kF32, 5, 3, 0)});
  net.add_task(task);
  expect_same_on_device(net, task.y[0].id, tolerance_of(DType::kBF16));
  expect_same_on_device(net, task.y[1].id, 0);
}

TEST(ElementwiseOnDevice, EightInputsAndFourOutputs) {
  Net net(20);
  task::ElementwiseTask task;
  for (size_t i = 0; i < 8; ++i)
    task.x[i].id = net.add(i % 2 == 0 ? DType::kF32 : DType::kF16, {3, 5, i == 3 ? 1 : 44});
  for (size_t o = 0; o < 4; ++o) task.y[o].id = net.add(DType::kF32, {3, 5, 44});
  std::vector<PointInstr> code;
  for (int k = 0; k < 7; ++k) code.push_back(instr(PointOp::kAdd, Lane::kF32, 8 + k, k, k + 1));
  code.push_back(instr(PointOp::kMul, Lane::kF32, 15, 8, 14));
  task.program = net.add_program(8, {15, 9, 10, 7}, code);
  net.add_task(task);
  for (size_t o = 0; o < 4; ++o) expect_same_on_device(net, task.y[o].id, 1e-6);
}

TEST(ElementwiseOnDevice, CoordinatesAreThoseOfTheTask) {
  struct Shape {
    Dims dims;
    Lie lie = Lie::kDense;
  };
  const Shape shapes[] = {
      {{30, 40}}, {{7}}, {{3, 1, 5, 6}}, {{2, 3, 4, 5, 2}}, {{9, 20}, Lie::kTurned}};
  for (const Shape& shape : shapes) {
    for (size_t axis = 0; axis < shape.dims.size(); ++axis) {
      SCOPED_TRACE(cat(join(shape.dims, "x"), " axis ", axis));
      Net net(13);
      task::ElementwiseTask task;
      task.x[0].id = net.add(DType::kI64, {shape.dims.back()});
      task.y[0].id = net.add(DType::kI32, shape.dims, shape.lie);
      PointInstr place = instr(PointOp::kIndex, Lane::kI64, 1);
      place.imm_int = static_cast<int64_t>(axis);
      task.program = net.add_program(1, {2}, {place, instr(PointOp::kAdd, Lane::kI64, 2, 1, 0)});
      net.add_task(task);
      expect_same_on_device(net, task.y[0].id, 0);
    }
  }
}

TEST(ElementwiseOnDevice, AnInputMayBeTheOutput) {
  Net net(21);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF16, {40, 64});
  task.x[1].id = net.add(DType::kF16, {64});
  task.y[0].id = task.x[0].id;
  task.program = net.add_program(2, {2}, {instr(PointOp::kAdd, Lane::kF32, 2, 0, 1)});
  net.add_task(task);
  expect_same_on_device(net, task.y[0].id, tolerance_of(DType::kF16));
}

TEST(ElementwiseOnDevice, BiasAndGeluOfAnEncoderLayer) {
  Net net(22);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF16, {128, 3072});
  task.x[1].id = net.add(DType::kF16, {3072});
  task.y[0].id = net.add(DType::kF16, {128, 3072});
  task.program = net.add_program(
      2, {3}, {instr(PointOp::kAdd, Lane::kF32, 2, 0, 1), instr(PointOp::kGelu, Lane::kF32, 3, 2)});
  net.add_task(task);
  expect_same_on_device(net, task.y[0].id, tolerance_of(DType::kF16));
}

TEST(ElementwiseOnDevice, ALargeTensorTakesSeveralPiecesAThread) {
  Net net(23);
  task::ElementwiseTask task;
  task.x[0].id = net.add(DType::kF16, {2, 56, 56, 400});
  task.x[1].id = net.add(DType::kF16, {2, 56, 56, 400});
  task.y[0].id = net.add(DType::kF16, {2, 56, 56, 400});
  task.program = net.add_program(
      2, {3}, {instr(PointOp::kAdd, Lane::kF32, 2, 0, 1), instr(PointOp::kRelu, Lane::kF32, 3, 2)});
  net.add_task(task);
  expect_same_on_device(net, task.y[0].id, tolerance_of(DType::kF16));
}

}  // namespace
}  // namespace tw::gpu
