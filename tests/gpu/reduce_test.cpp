// reductions on the device against the CPU executor.
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cuda/kernels/reduce_params.h"
#include "backends/cuda/launch.h"
#include "device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::ReduceTask;
using Kind = ReduceTask::Kind;

struct Case {
  Dims x;
  uint32_t axes;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

int64_t reduced_count(const Case& c) {
  int64_t n = 1;
  for (size_t d = 0; d < c.x.size(); ++d)
    if ((c.axes >> d & 1U) != 0) n *= c.x[d];
  return n;
}

ReduceTask make_reduce(Net& net, const Case& c, Kind kind, DType y_type, double limit = 1) {
  ReduceTask task;
  task.x.id = net.add(c.dtype, c.x, c.lie, limit);
  Dims y = c.x;
  for (size_t d = 0; d < y.size(); ++d)
    if ((c.axes >> d & 1U) != 0) y[d] = 1;
  task.y.id = net.add(y_type, y, c.lie);
  task.axes = c.axes;
  task.kind = kind;
  return task;
}

/// Rounding to the other side in the stored type, and sums of n terms of at most 1 in the lane, on
/// both sides.
double tolerance(DType dtype, int64_t n) {
  const double stored = dtype == DType::kF64    ? 0x1p-52
                        : dtype == DType::kF32  ? 0x1p-23
                        : dtype == DType::kBF16 ? 0x1p-7
                                                : 0x1p-10;
  const double lane = dtype == DType::kF64 ? 0x1p-53 : 0x1p-24;
  return stored + lane * static_cast<double>(n + 16);
}

void check(const Case& c, Kind kind, DType y_type, double limit = 1) {
  SCOPED_TRACE(
      cat(join(c.x, "x"), " axes ", c.axes, " ", c.dtype, " kind ", static_cast<int>(kind)));
  Net net(81);
  const ReduceTask task = make_reduce(net, c, kind, y_type, limit);
  net.add_task(task);
  expect_same_on_device(net, task.y.id, is_float(y_type) ? tolerance(y_type, reduced_count(c)) : 0);
}

TEST(ReduceOnDevice, SumsOverAnyAxesAreThoseOfTheCpu) {
  const Case cases[] = {{{6, 300}, 2},
                        {{6, 300}, 1},
                        {{6, 301}, 3},
                        {{3, 4, 52}, 5},
                        {{3, 4, 50}, 2},
                        {{3, 4, 50}, 0},
                        {{700, 3}, 1},
                        {{2, 3, 5, 7, 8}, 0b10101},
                        {{2, 3, 5, 7, 8}, 0b01010},
                        {{3, 4, 50}, 6, DType::kF32, Lie::kGaps},
                        {{20, 30}, 1, DType::kF32, Lie::kTurned},
                        {{20, 30}, 2, DType::kF32, Lie::kTurned},
                        {{4, 20, 30}, 3, DType::kF16, Lie::kTurned},
                        {{}, 0},
                        {{1, 1}, 3},
                        {{0, 4}, 2},
                        {{4, 0}, 2},
                        {{0, 4}, 1}};
  for (const Case& c : cases) check(c, Kind::kSum, c.dtype);
}

TEST(ReduceOnDevice, EveryKindOfFloatsIsThatOfTheCpu) {
  constexpr Kind kKinds[] = {Kind::kMean,      Kind::kMax,    Kind::kMin, Kind::kProd,
                             Kind::kSumSquare, Kind::kSumAbs, Kind::kL2,  Kind::kLogSumExp};
  for (const Kind kind : kKinds) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kF64}) {
      check({{5, 24, 16}, 4, dtype}, kind, dtype);
      check({{5, 24, 16}, 2, dtype}, kind, dtype);
    }
  }
}

TEST(ReduceOnDevice, LogarithmsOfSumsAreThoseOfTheCpu) {
  for (const uint32_t axes : {1U, 2U}) {
    Net net(82);
    const ReduceTask task = make_reduce(net, {{60, 64}, axes}, Kind::kLogSum, DType::kF32);
    cpu::for_each_coordinate(
        {60, 64}, [&](const Dims& at) { net.set(task.x.id, at, 1 + net.get(task.x.id, at)); });
    net.add_task(task);
    expect_same_on_device(net, task.y.id, tolerance(DType::kF32, 64));
  }
}

TEST(ReduceOnDevice, PooledImagesAndLongSumsOfProductionModels) {
  check({{1, 7, 7, 2048}, 6, DType::kF16}, Kind::kMean, DType::kF16);   // ResNet-50's last pool
  check({{2, 28, 28, 240}, 6, DType::kF16}, Kind::kMean, DType::kF16);  // a squeeze of EfficientNet
  check({{1, 56, 56, 96}, 6, DType::kF16}, Kind::kMean, DType::kF16);   // rows over a cluster
  check({{2, 128, 384}, 2}, Kind::kMean, DType::kF32);                  // MiniLM's mean of tokens
  check({{3, 384}, 2}, Kind::kL2, DType::kF32);                         // and its norm
  check({{1, 1000}, 2, DType::kF16}, Kind::kMax, DType::kF16);
  check({{2, 70000}, 2}, Kind::kSum, DType::kF32);  // rows over a cluster
  check({{500, 301}, 3, DType::kBF16}, Kind::kSum, DType::kBF16);
}

TEST(ReduceOnDevice, PositionsAreExactWithTiesToTheFirstOrTheLast) {
  const Case cases[] = {{{7, 90}, 2},
                        {{7, 90}, 1, DType::kI8},
                        {{30, 1000}, 2, DType::kF16},
                        {{3000, 16}, 1, DType::kF16},
                        {{2, 21, 9}, 2, DType::kI64},
                        {{5, 33}, 2, DType::kU64},
                        {{6, 40}, 2, DType::kF64, Lie::kTurned},
                        {{5, 1}, 2},
                        {{5, 0}, 2}};
  for (const Case& c : cases) {
    for (const Kind kind : {Kind::kArgMax, Kind::kArgMin}) {
      for (const bool last : {false, true}) {
        SCOPED_TRACE(cat(join(c.x, "x"), " ", c.dtype, last ? " last" : " first"));
        Net net(83);
        ReduceTask task = make_reduce(net, c, kind, DType::kI64, 4);
        task.last_index = last ? 1 : 0;
        cpu::for_each_coordinate(c.x, [&](const Dims& at) {  // few values: many ties
          net.set(task.x.id, at, std::fabs(std::round(net.get(task.x.id, at))));
        });
        net.add_task(task);
        expect_same_on_device(net, task.y.id, 0);
      }
    }
  }
}

TEST(ReduceOnDevice, IntegersAndBoolsAreExact) {
  constexpr Kind kKinds[] = {Kind::kSum,  Kind::kMean,      Kind::kMax,    Kind::kMin,
                             Kind::kProd, Kind::kSumSquare, Kind::kSumAbs, Kind::kL2};
  for (const Kind kind : kKinds) {
    check({{7, 90}, 2, DType::kI32}, kind, DType::kI32, 40);
    check({{7, 90}, 1, DType::kI8}, kind, DType::kI8, 30);
    check({{7, 6}, 3, DType::kI64}, kind, DType::kI64, 40);
  }
  check({{70, 9}, 1, DType::kU8}, Kind::kSum, DType::kU8);
  check({{3, 33}, 2, DType::kU64}, Kind::kMax, DType::kU64);
  for (const Kind kind : {Kind::kAny, Kind::kAll}) {
    for (const uint32_t axes : {1U, 2U, 3U}) {
      check({{7, 40}, axes, DType::kBool}, kind, DType::kBool);
      check({{7, 3}, axes, DType::kF32}, kind, DType::kBool);
    }
  }
}

TEST(ReduceOnDevice, NoElementsGiveTheStartOfTheKind) {
  constexpr Kind kKinds[] = {Kind::kSum, Kind::kMean, Kind::kMax,
                             Kind::kMin, Kind::kProd, Kind::kLogSumExp};
  for (const Kind kind : kKinds) {
    check({{3, 0}, 2}, kind, DType::kF32);
    check({{0, 5}, 1, DType::kF16}, kind, DType::kF16);
    if (kind != Kind::kLogSumExp) check({{3, 0}, 2, DType::kI16}, kind, DType::kI16);
  }
}

TEST(ReduceOnDevice, InfinitiesAndNansEndAsOnTheCpu) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const Kind kind : {Kind::kMax, Kind::kMin, Kind::kSum, Kind::kLogSumExp}) {
    for (const uint32_t axes : {1U, 2U}) {
      SCOPED_TRACE(cat("kind ", static_cast<int>(kind), " axes ", axes));
      Net net(84);
      const ReduceTask task = make_reduce(net, {{48, 48}, axes}, kind, DType::kF32, 200);
      for (int64_t i = 0; i < 48; ++i) {
        net.set(task.x.id, {3, i}, -inf);
        net.set(task.x.id, {i, 3}, -inf);
      }
      net.set(task.x.id, {20, 21}, inf);
      net.set(task.x.id, {30, 47}, std::nan(""));
      net.set(task.x.id, {40, 0}, -std::nan(""));
      net.add_task(task);
      expect_same_on_device(net, task.y.id, 200 * tolerance(DType::kF32, 48));
    }
  }
}

TEST(ReduceOnDevice, NansWinPositions) {
  for (const Kind kind : {Kind::kArgMax, Kind::kArgMin}) {
    for (const bool last : {false, true}) {
      Net net(85);
      ReduceTask task = make_reduce(net, {{6, 100}, 2}, kind, DType::kI64);
      task.last_index = last ? 1 : 0;
      for (const int64_t i : {9, 50, 99}) net.set(task.x.id, {2, i}, std::nan(""));
      net.add_task(task);
      expect_same_on_device(net, task.y.id, 0);
    }
  }
}

TEST(ReduceOnDevice, AnElementThatRepeatsIsCounted) {
  Net net(86);
  ReduceTask task = make_reduce(net, {{5, 12}, 2, DType::kI64}, Kind::kSum, DType::kI64);
  net.slot(task.x.id).strides[1] = 0;
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
}

cuda::Launch launch_of(const Dims& dims, uint32_t axes) {
  Net net(87);
  net.add_task(make_reduce(net, {dims, axes, DType::kF16}, Kind::kSum, DType::kF16));
  const auto made = cuda::make_launches({net.program.records[0], net.program.slots, {}});
  EXPECT_TRUE(made.ok());
  return made.value().at(0);
}

template <class Params>
Params params_of(const cuda::Launch& launch) {
  Params p;
  EXPECT_EQ(launch.params.size(), sizeof p);
  std::memcpy(&p, launch.params.data(), sizeof p);
  return p;
}

TEST(ReduceOnDevice, ASumIsCutTheSameWayAmongAnyNumberOfOthers) {
  const auto one = launch_of({1, 3000}, 2), many = launch_of({400, 3000}, 2);
  EXPECT_EQ(one.source, many.source);
  EXPECT_EQ(params_of<cuda::ReduceRowsParams>(one).team,
            params_of<cuda::ReduceRowsParams>(many).team);
  const auto image = launch_of({1, 49, 64}, 2), images = launch_of({300, 49, 64}, 2);
  EXPECT_EQ(image.source, images.source);
  EXPECT_EQ(params_of<cuda::ReduceColumnsParams>(image).threads_y,
            params_of<cuda::ReduceColumnsParams>(images).threads_y);
  EXPECT_EQ(image.cluster, images.cluster);
}

TEST(ReduceOnDevice, OneKernelServesAllSizes) {
  EXPECT_EQ(launch_of({3, 64}, 2).source, launch_of({1, 300000}, 2).source);
  EXPECT_EQ(launch_of({1, 49, 2048}, 2).source, launch_of({8, 3136, 96}, 2).source);
}

}  // namespace
}  // namespace tw::gpu
