// pooling on the device against the CPU executor.
#include <cmath>
#include <limits>

#include "backends/cuda/launch.h"
#include "device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::PoolTask;

struct Case {
  Dims x;
  int16_t kernel, stride, dilation, pad, pad_end;
  bool count_padding = false;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

/// Windows are summed in the CPU's order: a result may only round to the other side.
double tolerance(DType dtype) {
  return dtype == DType::kF64    ? 0x1p-52
         : dtype == DType::kF32  ? 0x1p-22
         : dtype == DType::kBF16 ? 0x1p-7
         : dtype == DType::kF16  ? 0x1p-10
                                 : 0;
}

PoolTask make_pool(Net& net, const Case& c, PoolTask::Kind kind) {
  PoolTask task;
  task.kind = kind;
  task.count_padding = c.count_padding ? 1 : 0;
  task.x.id = net.add(c.dtype, c.x, c.lie, is_float(c.dtype) ? 1 : 100);
  Dims y = {c.x[0]};
  for (size_t d = 0; d + 2 < c.x.size(); ++d) {
    task.kernel[d] = c.kernel;
    task.stride[d] = c.stride;
    task.dilation[d] = c.dilation;
    task.pad[d] = c.pad;
    task.pad_end[d] = c.pad_end;
    y.push_back((c.x[d + 1] + c.pad + c.pad_end - (c.kernel - 1) * c.dilation - 1) / c.stride + 1);
  }
  y.push_back(c.x.back());
  task.y.id = net.add(c.dtype, y, c.lie);
  return task;
}

void check(const Case& c, PoolTask::Kind kind) {
  SCOPED_TRACE(cat(join(c.x, "x"), " by ", c.kernel, " ", c.dtype));
  Net net(91);
  const PoolTask task = make_pool(net, c, kind);
  net.add_task(task);
  expect_same_on_device(net, task.y.id, tolerance(c.dtype));
}

const Case kCases[] = {{{2, 12, 13, 24}, 3, 2, 1, 1, 1},
                       {{2, 12, 13, 24}, 3, 2, 1, 1, 1, true},
                       {{1, 30, 5}, 2, 2, 1, 0, 1, true},
                       {{1, 9, 9, 40}, 7, 1, 1, 0, 0},
                       {{1, 15, 11, 8}, 5, 1, 1, 2, 2, false, DType::kF16},
                       {{1, 6, 6, 6, 3}, 2, 2, 2, 1, 1},
                       {{2, 5, 7, 6, 4}, 3, 1, 1, 1, 1, true},
                       {{1, 20, 20, 8}, 3, 3, 3, 4, 3, true, DType::kBF16},
                       {{1, 30, 8}, 13, 2, 1, 6, 6},
                       {{1, 9, 9, 5}, 3, 1, 1, 1, 1, false, DType::kF16, Lie::kTurned},
                       {{1, 9, 9, 5}, 3, 1, 1, 1, 1, false, DType::kF64, Lie::kGaps},
                       {{1, 9, 9, 6}, 3, 1, 1, 1, 1, false, DType::kF64},
                       {{0, 9, 9, 5}, 3, 1, 1, 1, 1},
                       {{1, 1, 1, 1}, 1, 1, 1, 0, 0}};

TEST(PoolOnDevice, LargestElementsAreThoseOfTheCpu) {
  for (const Case& c : kCases) check(c, PoolTask::Kind::kMax);
}

TEST(PoolOnDevice, AveragesAreThoseOfTheCpu) {
  for (const Case& c : kCases) check(c, PoolTask::Kind::kAverage);
}

TEST(PoolOnDevice, TheStemOfResNet) {
  for (const DType dtype : {DType::kF16, DType::kF32})
    check({{1, 112, 112, 64}, 3, 2, 1, 1, 1, false, dtype}, PoolTask::Kind::kMax);
}

TEST(PoolOnDevice, WindowsThatSeeOnlyPadding) {
  for (const auto kind : {PoolTask::Kind::kMax, PoolTask::Kind::kAverage})
    for (const DType dtype : {DType::kF32, DType::kI8})
      check({{1, 3, 3, 4}, 2, 1, 1, 3, 3, false, dtype}, kind);
}

TEST(PoolOnDevice, IntegersAreExactAndTheirAveragesTruncate) {
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI64})
    for (const auto kind : {PoolTask::Kind::kMax, PoolTask::Kind::kAverage})
      check({{2, 9, 8, 8}, 3, 2, 1, 1, 1, true, dtype}, kind);
}

TEST(PoolOnDevice, NansAndInfinitiesPass) {
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    Net net(92);
    const PoolTask task =
        make_pool(net, {{1, 9, 9, 8}, 3, 1, 1, 1, 1, false, dtype}, PoolTask::Kind::kMax);
    net.set(task.x.id, {0, 2, 2, 1}, std::nan(""));
    net.set(task.x.id, {0, 2, 7, 2}, std::numeric_limits<double>::infinity());
    for (int64_t i = 0; i < 9; ++i)
      net.set(task.x.id, {0, i, 8, 3}, -std::numeric_limits<double>::infinity());
    net.add_task(task);
    expect_same_on_device(net, task.y.id, tolerance(dtype));
  }
}

TEST(PoolOnDevice, EachDimHasItsOwnWindow) {
  Net net(93);
  PoolTask task;
  task.kind = PoolTask::Kind::kAverage;
  task.kernel = {2, 5, 1};
  task.stride = {1, 3, 1};
  task.pad = {1, 0, 0};
  task.pad_end = {0, 2, 0};
  task.x.id = net.add(DType::kF32, {2, 7, 12, 4});
  task.y.id = net.add(DType::kF32, {2, 7, 4, 4});
  net.add_task(task);
  expect_same_on_device(net, task.y.id, tolerance(DType::kF32));
}

TEST(PoolOnDevice, OneKernelServesAllImages) {
  const auto source = [](const Dims& x) {
    Net net(94);
    net.add_task(make_pool(net, {x, 3, 2, 1, 1, 1, false, DType::kF16}, PoolTask::Kind::kMax));
    const auto made = cuda::make_launches({net.program.records[0], net.program.slots, {}});
    return made.ok() ? made.value().at(0).source : made.error().message;
  };
  EXPECT_EQ(source({1, 112, 112, 64}), source({8, 35, 35, 288}));
}

}  // namespace
}  // namespace tw::gpu
