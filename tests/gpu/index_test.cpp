// index_test.cpp: an index out of range is the same error on the device as on the CPU, whichever
// thread meets it first.
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::GatherTask;
using task::ScatterTask;

/// Both sides say `sentence`; empty: nothing is wrong.
void expect_error(Net& net, const std::string& sentence) {
  EXPECT_EQ(net.run({}), sentence);
  if (!has_device()) {
    expect_compiles(net);
    GTEST_SKIP() << "no GPU: the kernels were compiled only";
  }
  EXPECT_EQ(error_on_device(net), sentence);
}

/// An index operand that holds zeros.
task::SlotId add_zeros(Net& net, const Dims& dims, DType dtype = DType::kI64,
                       Lie lie = Lie::kDense) {
  const task::SlotId index = net.add(dtype, dims, lie);
  cpu::for_each_coordinate(dims, [&](const Dims& at) { net.set(index, at, 0); });
  return index;
}

GatherTask add_gather(Net& net, GatherTask::Kind kind, int axis, const Dims& x, task::SlotId index,
                      const Dims& y, Lie lie = Lie::kDense) {
  GatherTask task;
  task.kind = kind;
  task.axis = static_cast<int8_t>(axis);
  task.batch_dims = static_cast<int8_t>(axis);
  task.x.id = net.add(DType::kF16, x, lie);
  task.index.id = index;
  task.y.id = net.add(DType::kF16, y, lie);
  net.add_task(task);
  return task;
}

TEST(IndexOnDevice, OfATakenRowIsNamed) {
  Net net(51);
  const task::SlotId index = add_zeros(net, {2});
  add_gather(net, GatherTask::Kind::kTake, 0, {4, 3}, index, {2, 3});
  net.set(index, {1}, -4);
  expect_error(net, "");
  net.set(index, {1}, 4);
  expect_error(net, "task 0 (gather): index 4 on axis 0 is out of range: expected -4 to 3");
  net.set(index, {1}, -5);
  expect_error(net, "task 0 (gather): index -5 on axis 0 is out of range: expected -4 to 3");
}

TEST(IndexOnDevice, ThatStandsFirstIsNamedWhenManyAreWrong) {
  Net net(52);
  const task::SlotId index = add_zeros(net, {1, 512});
  add_gather(net, GatherTask::Kind::kTake, 0, {3000, 768}, index, {1, 512, 768});
  for (int64_t i = 3; i < 512; ++i) net.set(index, {0, i}, static_cast<double>(4000 - i));
  expect_error(net,
               "task 0 (gather): index 3997 on axis 0 is out of range: expected -3000 to 2999");
}

TEST(IndexOnDevice, OfTakenColumnsIsNamed) {
  for (const Lie lie : {Lie::kDense, Lie::kGaps, Lie::kTurned}) {
    Net net(53);
    const task::SlotId index = add_zeros(net, {40}, DType::kI32, lie);
    add_gather(net, GatherTask::Kind::kTake, 1, {3, 8}, index, {3, 40}, lie);
    net.set(index, {33}, 8);
    net.set(index, {21}, -9);
    expect_error(net, "task 0 (gather): index -9 on axis 1 is out of range: expected -8 to 7");
  }
}

TEST(IndexOnDevice, OfAnElementIsNamed) {
  Net net(54);
  const task::SlotId index = add_zeros(net, {6, 16});
  add_gather(net, GatherTask::Kind::kElements, 1, {6, 10}, index, {6, 16});
  net.set(index, {5, 3}, -11);
  net.set(index, {2, 9}, 10);
  expect_error(net, "task 0 (gather): index 10 on axis 1 is out of range: expected -10 to 9");
}

TEST(IndexOnDevice, OfATupleIsNamedWithTheAxisThatItCounts) {
  Net net(55);
  const task::SlotId index = add_zeros(net, {3, 4, 2});
  add_gather(net, GatherTask::Kind::kNd, 1, {3, 6, 7, 16}, index, {3, 4, 16});
  net.set(index, {1, 2, 1}, 7);
  expect_error(net, "task 0 (gather): index 7 on axis 2 is out of range: expected -7 to 6");
}

TEST(IndexOnDevice, OfTheFirstTaskIsNamed) {
  Net net(56);
  const task::SlotId first = add_zeros(net, {4}), second = add_zeros(net, {4});
  add_gather(net, GatherTask::Kind::kTake, 0, {5, 8}, first, {4, 8});
  add_gather(net, GatherTask::Kind::kTake, 0, {6, 8}, second, {4, 8});
  net.set(second, {0}, 60);
  expect_error(net, "task 1 (gather): index 60 on axis 0 is out of range: expected -6 to 5");
  net.set(first, {3}, 50);
  expect_error(net, "task 0 (gather): index 50 on axis 0 is out of range: expected -5 to 4");
}

TEST(IndexOnDevice, OfAScatteredElementIsNamed) {
  for (const auto combine : {ScatterTask::Combine::kReplace, ScatterTask::Combine::kAdd}) {
    Net net(57);
    ScatterTask task;
    task.combine = combine;
    task.axis = 1;
    task.index.id = add_zeros(net, {6, 40});
    task.updates.id = net.add(DType::kF32, {6, 40});
    task.y.id = net.add(DType::kF32, {6, 10});
    net.add_task(task);
    net.set(task.index.id, {5, 39}, -11);
    net.set(task.index.id, {3, 4}, 12);
    expect_error(net, "task 0 (scatter): index 12 on axis 1 is out of range: expected -10 to 9");
  }
}

TEST(IndexOnDevice, OfAScatteredSliceIsNamed) {
  for (const auto combine : {ScatterTask::Combine::kReplace, ScatterTask::Combine::kAdd}) {
    Net net(58);
    ScatterTask task;
    task.kind = ScatterTask::Kind::kNd;
    task.combine = combine;
    task.index.id = add_zeros(net, {2, 11, 2}, DType::kI32);
    task.updates.id = net.add(DType::kF16, {2, 11, 900});
    task.y.id = net.add(DType::kF16, {4, 5, 900});
    net.add_task(task);
    net.set(task.index.id, {1, 10, 0}, 4);
    expect_error(net, "task 0 (scatter): index 4 on axis 0 is out of range: expected -4 to 3");
    net.set(task.index.id, {0, 10, 1}, 5);
    expect_error(net, "task 0 (scatter): index 5 on axis 1 is out of range: expected -5 to 4");
  }
}

}  // namespace
}  // namespace tw::gpu
