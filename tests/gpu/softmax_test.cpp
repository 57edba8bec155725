// softmax and log-softmax on the device against the CPU executor.
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/cuda/kernels/softmax_params.h"
#include "backends/cuda/launch.h"
#include "device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::SoftmaxTask;

/// Results are at most 1 (of logarithms: some tens); rounding to the other side in the stored type,
/// and some roundings of the lane.
double tolerance(DType dtype) {
  return dtype == DType::kF64    ? 0x1p-46
         : dtype == DType::kF32  ? 0x1p-19
         : dtype == DType::kBF16 ? 0x1p-7
                                 : 0x1p-10;
}

struct Case {
  Dims dims;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

const Case kCases[] = {{{24, 512}, DType::kF16},
                       {{24, 197}, DType::kF16},
                       {{1, 1000}},
                       {{6, 1001}, DType::kBF16},
                       {{3, 4000}, DType::kBF16},
                       {{3, 5000}},
                       {{700, 16}, DType::kF16},
                       {{300, 80}, DType::kF16, Lie::kTurned},
                       {{2, 3, 100}, DType::kF32, Lie::kGaps},
                       {{9, 600}, DType::kF64},
                       {{7, 33}, DType::kF64, Lie::kTurned},
                       {{1, 20000}, DType::kF16},
                       {{2, 16501}},
                       {{5, 1}},
                       {{1, 1}},
                       {{0, 8}},
                       {{9}}};

SoftmaxTask make_softmax(Net& net, const Case& c, bool logarithm) {
  SoftmaxTask task;
  task.x.id = net.add(c.dtype, c.dims, c.lie, 8);
  task.y.id = net.add(c.dtype, c.dims);
  task.logarithm = logarithm ? 1 : 0;
  net.add_task(task);
  return task;
}

TEST(SoftmaxOnDevice, RowsAreThoseOfTheCpu) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(cat(join(c.dims, "x"), " ", c.dtype));
    Net net(71);
    const SoftmaxTask task = make_softmax(net, c, false);
    expect_same_on_device(net, task.y.id, tolerance(c.dtype));
  }
}

TEST(SoftmaxOnDevice, LogarithmsAreThoseOfTheCpu) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(cat(join(c.dims, "x"), " ", c.dtype));
    Net net(72);
    const SoftmaxTask task = make_softmax(net, c, true);
    expect_same_on_device(net, task.y.id, tolerance(c.dtype));
  }
}

TEST(SoftmaxOnDevice, InfinitiesAndNansEndAsOnTheCpu) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    for (const int64_t n : {7, 512}) {
      Net net(73);
      const SoftmaxTask task = make_softmax(net, {{6, n}, dtype}, false);
      for (int64_t i = 0; i < n; ++i) net.set(task.x.id, {0, i}, -inf);
      for (int64_t i = 0; i < n - 1; ++i) net.set(task.x.id, {1, i}, -inf);
      net.set(task.x.id, {2, 3}, inf);
      net.set(task.x.id, {3, n - 1}, std::nan(""));
      net.set(task.x.id, {4, 0}, std::nan(""));
      expect_same_on_device(net, task.y.id, tolerance(dtype));
    }
  }
}

TEST(SoftmaxOnDevice, AWholeRowOfEqualLogitsIsEven) {
  Net net(74);
  const SoftmaxTask task = make_softmax(net, {{3, 1000}}, false);
  for (int64_t i = 0; i < 1000; ++i) net.set(task.x.id, {1, i}, 1e30);
  expect_same_on_device(net, task.y.id, tolerance(DType::kF32));
}

TEST(SoftmaxOnDevice, TheResultMayHaveAnotherType) {
  Net net(75);
  SoftmaxTask task;
  task.x.id = net.add(DType::kF16, {4, 96});
  task.y.id = net.add(DType::kF32, {4, 96}, Lie::kGaps);
  net.add_task(task);
  expect_same_on_device(net, task.y.id, tolerance(DType::kF32));
}

int team_of(const Dims& dims) {
  Net net(76);
  make_softmax(net, {dims}, false);
  const auto made = cuda::make_launches({net.program.records[0], net.program.slots, {}});
  EXPECT_TRUE(made.ok());
  cuda::SoftmaxParams p;
  std::memcpy(&p, made.value()[0].params.data(), sizeof p);
  return p.team;
}

TEST(SoftmaxOnDevice, ARowIsCutTheSameWayAmongAnyNumberOfRows) {
  for (const int64_t n : {3, 700, 9000}) EXPECT_EQ(team_of({1, n}), team_of({500, n}));
}

}  // namespace
}  // namespace tw::gpu
