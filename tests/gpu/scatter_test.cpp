// scatter_test.cpp: updates that meet are taken in index order, with every way to combine.
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::ScatterTask;

constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64,
                            DType::kI8,  DType::kU64, DType::kBool};
constexpr ScatterTask::Combine kCombines[] = {
    ScatterTask::Combine::kReplace, ScatterTask::Combine::kAdd, ScatterTask::Combine::kMul,
    ScatterTask::Combine::kMin, ScatterTask::Combine::kMax};

/// Indices below `extent`, every third counted from the end.
task::SlotId add_index(Net& net, const Dims& dims, int64_t extent, DType dtype, Lie lie) {
  const task::SlotId index = net.add(dtype, dims, lie);
  std::uniform_int_distribution<int64_t> value(0, extent - 1);
  int64_t count = 0;
  cpu::for_each_coordinate(dims, [&](const Dims& at) {
    const int64_t i = value(net.random());
    net.set(index, at, static_cast<double>(++count % 3 == 0 ? i - extent : i));
  });
  return index;
}

struct Case {
  Dims y, index, updates;
  int axis = -1;  // of elements; -1: by coordinates
  DType dtype = DType::kF32;
  ScatterTask::Combine combine = ScatterTask::Combine::kReplace;
  Lie lie = Lie::kDense;
  DType index_type = DType::kI64;
};

/// Results are rounded after each update, in the same order: equal to the bit.
void expect_scatter(const Case& c) {
  SCOPED_TRACE(cat(join(c.y, "x"), " at ", join(c.index, "x"), " axis ", c.axis, " ", c.dtype,
                   " combine ", static_cast<int>(c.combine)));
  Net net(41);
  ScatterTask task;
  task.y.id = net.add(c.dtype, c.y, c.lie);
  int64_t extent = c.y[static_cast<size_t>(std::max(0, c.axis))];
  if (c.axis < 0)
    for (int64_t d = 0; d < c.index.back(); ++d)
      extent = std::min(extent, c.y[static_cast<size_t>(d)]);
  task.index.id = add_index(net, c.index, extent, c.index_type, c.lie);
  task.updates.id = net.add(c.dtype, c.updates, c.lie);
  task.kind = c.axis < 0 ? ScatterTask::Kind::kNd : ScatterTask::Kind::kElements;
  task.combine = c.combine;
  task.axis = static_cast<int8_t>(std::max(0, c.axis));
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
}

TEST(ScatterOnDevice, ElementsMeetInIndexOrder) {
  for (const DType dtype : kTypes) {
    for (const ScatterTask::Combine combine : kCombines) {
      expect_scatter({{6, 10}, {6, 40}, {6, 40}, 1, dtype, combine});
      expect_scatter({{6, 10}, {30, 4}, {30, 4}, 0, dtype, combine, Lie::kGaps});
    }
  }
}

TEST(ScatterOnDevice, ElementsOfAnyShape) {
  for (const Lie lie : {Lie::kDense, Lie::kGaps, Lie::kTurned}) {
    expect_scatter({{500}, {300}, {300}, 0, DType::kF16, kCombines[0], lie});
    expect_scatter({{3, 8, 5}, {2, 20, 5}, {2, 20, 5}, 1, DType::kF32, kCombines[1], lie});
    expect_scatter(
        {{3, 8, 5}, {3, 8, 1}, {3, 8, 1}, 2, DType::kI64, kCombines[0], lie, DType::kI32});
    expect_scatter({{1}, {1}, {1}, 0, DType::kF32, kCombines[1], lie});
    expect_scatter({{4, 4}, {0, 4}, {0, 4}, 0, DType::kF32, kCombines[1], lie});
  }
}

TEST(ScatterOnDevice, SlicesMeetInIndexOrder) {
  for (const DType dtype : kTypes) {
    for (const ScatterTask::Combine combine : kCombines) {
      expect_scatter({{7, 40}, {30, 1}, {30, 40}, -1, dtype, combine});
      expect_scatter({{4, 5, 9}, {2, 11, 2}, {2, 11, 9}, -1, dtype, combine, Lie::kTurned});
    }
  }
}

TEST(ScatterOnDevice, SlicesOfAnyShape) {
  for (const Lie lie : {Lie::kDense, Lie::kGaps, Lie::kTurned}) {
    expect_scatter({{5, 6}, {300, 2}, {300}, -1, DType::kF32, kCombines[1], lie});
    expect_scatter({{5, 6}, {300, 2}, {300}, -1, DType::kU8, kCombines[0], lie, DType::kI32});
    expect_scatter({{9, 3, 600}, {4, 1}, {4, 3, 600}, -1, DType::kF16, kCombines[0], lie});
    expect_scatter({{9, 3, 600}, {4, 1}, {4, 3, 600}, -1, DType::kF16, kCombines[1], lie});
    expect_scatter({{1}, {1}, {}, -1, DType::kF32, kCombines[0], lie});
    expect_scatter({{4, 4}, {0, 1}, {0, 4}, -1, DType::kF32, kCombines[0], lie});
  }
}

}  // namespace
}  // namespace tw::gpu
