// gather_test.cpp: take, elements and nd against the CPU; indices of both types, some counted from
// the end.
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::GatherTask;

constexpr DType kOneOfEachSize[] = {DType::kU8, DType::kF16, DType::kF32, DType::kI64};

/// Indices below `extent`, every third counted from the end.
task::SlotId add_index(Net& net, const Dims& dims, int64_t extent, DType dtype = DType::kI64,
                       Lie lie = Lie::kDense) {
  const task::SlotId index = net.add(dtype, dims, lie);
  std::uniform_int_distribution<int64_t> value(0, extent - 1);
  int64_t count = 0;
  cpu::for_each_coordinate(dims, [&](const Dims& at) {
    const int64_t i = value(net.random());
    net.set(index, at, static_cast<double>(++count % 3 == 0 ? i - extent : i));
  });
  return index;
}

struct TakeCase {
  Dims x, index;
  int axis = 0;
  Lie lie = Lie::kDense;
};

void expect_take(const TakeCase& c, DType dtype, DType index_type) {
  SCOPED_TRACE(cat(join(c.x, "x"), " at ", join(c.index, "x"), " axis ", c.axis, " ", dtype));
  Net net(31);
  const auto axis = static_cast<size_t>(c.axis);
  Dims y;
  for (size_t d = 0; d < axis; ++d) y.push_back(c.x[d]);
  for (const int64_t dim : c.index) y.push_back(dim);
  for (size_t d = axis + 1; d < c.x.size(); ++d) y.push_back(c.x[d]);
  GatherTask task;
  task.x.id = net.add(dtype, c.x, c.lie);
  task.index.id = add_index(net, c.index, c.x[axis], index_type, c.lie);
  task.y.id = net.add(dtype, y, c.lie);
  task.kind = GatherTask::Kind::kTake;
  task.axis = static_cast<int8_t>(c.axis);
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
}

TEST(GatherOnDevice, TakeReadsRowsAndColumns) {
  const TakeCase cases[] = {{{50, 64}, {2, 9}, 0},
                            {{50, 33}, {17}, 0},
                            {{7, 50}, {5}, 1},
                            {{4, 50, 24}, {3, 5}, 1},
                            {{4, 50, 24}, {}, 1},
                            {{9}, {4}, 0},
                            {{9}, {}, 0},
                            {{6, 5, 7}, {0}, 1},
                            {{3, 8, 20}, {6}, 1, Lie::kGaps},
                            {{3, 8, 20}, {6}, 2, Lie::kTurned}};
  for (const DType dtype : kOneOfEachSize)
    for (const TakeCase& c : cases) expect_take(c, dtype, DType::kI64);
  for (const TakeCase& c : cases) expect_take(c, DType::kF32, DType::kI32);
}

TEST(GatherOnDevice, TakeLooksUpEmbeddings) {
  expect_take({{3000, 768}, {1, 128}, 0}, DType::kF16, DType::kI64);
}

void expect_elements(const Dims& x, const Dims& index, int axis, DType dtype, Lie lie) {
  SCOPED_TRACE(cat(join(x, "x"), " at ", join(index, "x"), " axis ", axis, " ", dtype));
  Net net(32);
  GatherTask task;
  task.x.id = net.add(dtype, x, lie);
  task.index.id = add_index(net, index, x[static_cast<size_t>(axis)], DType::kI64, lie);
  task.y.id = net.add(dtype, index, lie);
  task.kind = GatherTask::Kind::kElements;
  task.axis = static_cast<int8_t>(axis);
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
}

TEST(GatherOnDevice, ElementsReplaceOneCoordinate) {
  for (const DType dtype : kOneOfEachSize) {
    for (const Lie lie : {Lie::kDense, Lie::kGaps, Lie::kTurned}) {
      expect_elements({6, 10}, {6, 4}, 1, dtype, lie);
      expect_elements({6, 10}, {3, 7}, 0, dtype, lie);
      expect_elements({3, 8, 5}, {2, 20, 5}, 1, dtype, lie);
    }
    expect_elements({9}, {30}, 0, dtype, Lie::kDense);
    expect_elements({9, 4}, {0, 4}, 0, dtype, Lie::kDense);
  }
}

void expect_nd(const Dims& x, const Dims& index, const Dims& y, int batch, DType dtype, Lie lie) {
  SCOPED_TRACE(cat(join(x, "x"), " at ", join(index, "x"), " batch ", batch, " ", dtype));
  Net net(33);
  GatherTask task;
  task.x.id = net.add(dtype, x, lie);
  int64_t least = x[static_cast<size_t>(batch)];  // every coordinate is below all extents
  for (int64_t d = 0; d < index.back(); ++d)
    least = std::min(least, x[static_cast<size_t>(batch + d)]);
  task.index.id = add_index(net, index, least, DType::kI64, lie);
  task.y.id = net.add(dtype, y, lie);
  task.kind = GatherTask::Kind::kNd;
  task.batch_dims = static_cast<int8_t>(batch);
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
}

TEST(GatherOnDevice, TuplesNameElementsAndSlices) {
  for (const DType dtype : kOneOfEachSize) {
    for (const Lie lie : {Lie::kDense, Lie::kTurned}) {
      expect_nd({5, 6, 7}, {4, 3}, {4}, 0, dtype, lie);
      expect_nd({5, 6, 32}, {3, 4, 2}, {3, 4, 32}, 0, dtype, lie);
      expect_nd({5, 16}, {9, 1}, {9, 16}, 0, dtype, lie);
      expect_nd({3, 6, 7}, {3, 4, 1}, {3, 4, 7}, 1, dtype, lie);
      expect_nd({2, 3, 6, 8}, {2, 3, 5, 1}, {2, 3, 5, 8}, 2, dtype, lie);
    }
  }
}

}  // namespace
}  // namespace tw::gpu
