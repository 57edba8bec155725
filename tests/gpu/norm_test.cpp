// norm on the device against the CPU executor.
#include <cmath>
#include <cstring>

#include "backends/cuda/kernels/norm_params.h"
#include "backends/cuda/launch.h"
#include "device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::NormTask;

/// Half a unit in the last place of 1.
double epsilon(DType dtype) {
  return dtype == DType::kF64    ? 0x1p-53
         : dtype == DType::kF32  ? 0x1p-24
         : dtype == DType::kBF16 ? 0x1p-8
                                 : 0x1p-11;
}

/// A result may round to the other side; before that, sums of n terms are off by some roundings of
/// the lane: chains are at most n / 32 + 16 long.
double tolerance(DType dtype, int64_t n) {
  const double lane = dtype == DType::kF64 ? 0x1p-53 : 0x1p-24;
  return 2 * epsilon(dtype) + lane * static_cast<double>(n / 32 + 16);
}

struct Case {
  Dims dims;
  DType x = DType::kF32, weights = DType::kF32;
  Lie lie = Lie::kDense;
};

NormTask make_norm(Net& net, const Case& c, NormTask::Kind kind) {
  NormTask task;
  task.kind = kind;
  task.eps = 1e-5F;
  task.x.id = net.add(c.x, c.dims, c.lie, 3);
  task.scale.id = net.add_immutable(c.weights, {c.dims.back()});
  if (kind == NormTask::Kind::kLayer) task.bias.id = net.add_immutable(c.weights, {c.dims.back()});
  task.y.id = net.add(c.x, c.dims, c.lie);
  return task;
}

const Case kCases[] = {{{128, 768}, DType::kF16, DType::kF16},
                       {{128, 768}},
                       {{128, 384}, DType::kF16, DType::kF32},
                       {{16, 4096}, DType::kBF16, DType::kBF16},
                       {{3, 4096}},
                       {{5, 33}},
                       {{700, 5}, DType::kF16, DType::kF16},
                       {{3, 1025}, DType::kBF16, DType::kF32},
                       {{2, 3, 772}, DType::kF32, DType::kF32, Lie::kGaps},
                       {{4, 770}, DType::kF16, DType::kF16, Lie::kGaps},
                       {{40, 17}, DType::kF32, DType::kF32, Lie::kTurned},
                       {{9, 600}, DType::kF64, DType::kF64},
                       {{3, 50}, DType::kF64, DType::kF32, Lie::kGaps},
                       {{1, 1}},
                       {{6, 1}, DType::kF16, DType::kF16},
                       {{0, 8}},
                       {{9}}};

TEST(NormOnDevice, LayerNormIsThatOfTheCpu) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(cat(join(c.dims, "x"), " ", c.x));
    Net net(61);
    const NormTask task = make_norm(net, c, NormTask::Kind::kLayer);
    net.add_task(task);
    expect_same_on_device(net, task.y.id, 4 * tolerance(c.x, c.dims.back()));
  }
}

TEST(NormOnDevice, RmsNormIsThatOfTheCpu) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(cat(join(c.dims, "x"), " ", c.x));
    Net net(62);
    const NormTask task = make_norm(net, c, NormTask::Kind::kRms);
    net.add_task(task);
    expect_same_on_device(net, task.y.id, 4 * tolerance(c.x, c.dims.back()));
  }
}

TEST(NormOnDevice, RowsThatPassTheRegistersAreReadAgain) {
  const Case cases[] = {{{2, 20000}, DType::kF16, DType::kF16},
                        {{2, 20001}, DType::kF16, DType::kF16},
                        {{1, 17000}},
                        {{1, 5000}, DType::kF64, DType::kF64}};
  for (const Case& c : cases) {
    SCOPED_TRACE(cat(join(c.dims, "x"), " ", c.x));
    Net net(63);
    const NormTask task = make_norm(net, c, NormTask::Kind::kLayer);
    net.add_task(task);
    expect_same_on_device(net, task.y.id, 4 * tolerance(c.x, c.dims.back()));
  }
}

TEST(NormOnDevice, StatisticsAreOutputsToo) {
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    Net net(64);
    NormTask task = make_norm(net, {{2, 9, 100}, dtype, dtype}, NormTask::Kind::kLayer);
    task.mean.id = net.add(DType::kF32, {2, 9, 1}, Lie::kTurned);
    task.inv_std.id = net.add(dtype, {2, 9, 1}, Lie::kGaps);
    net.add_task(task);
    expect_same_on_device(net, task.y.id, 4 * tolerance(dtype, 100));
    expect_same_on_device(net, task.mean.id, 4 * tolerance(DType::kF32, 100));
    expect_same_on_device(net, task.inv_std.id, 4 * tolerance(dtype, 100));
  }
}

TEST(NormOnDevice, WeightsMayBeComputedOrAbsent) {
  for (const bool computed : {false, true}) {
    Net net(65);
    NormTask task = make_norm(net, {{12, 256}, DType::kF16, DType::kF16}, NormTask::Kind::kLayer);
    task.scale.id = computed ? net.add(DType::kF16, {256}, Lie::kGaps) : task::kNoSlot;
    task.bias.id = computed ? net.add(DType::kBF16, {256}) : task::kNoSlot;
    net.add_task(task);
    expect_same_on_device(net, task.y.id, 4 * tolerance(DType::kF16, 256));
  }
}

TEST(NormOnDevice, AMeanFarFromZeroKeepsTheVariance) {
  Net net(66);
  NormTask task = make_norm(net, {{8, 768}}, NormTask::Kind::kLayer);
  cpu::for_each_coordinate(
      {8, 768}, [&](const Dims& at) { net.set(task.x.id, at, 1000 + net.get(task.x.id, at)); });
  net.add_task(task);
  // The mean itself is off by some roundings of 1000; the spread is about 2.
  expect_same_on_device(net, task.y.id, 1000 * tolerance(DType::kF32, 768));
}

TEST(NormOnDevice, ViewsOffTheAlignmentAreReadByElements) {
  Net net(67);
  const Dims dims = {6, 64};
  NormTask task = make_norm(net, {dims, DType::kF16, DType::kF16}, NormTask::Kind::kLayer);
  const task::SlotId storage = net.add(DType::kF16, {6, 80});
  task::SlotInfo view = net.slot(storage);
  view.flags = task::SlotInfo::kView;
  view.dims[1] = 64;
  view.offset_bytes = 3 * size_bytes(DType::kF16);
  task.x.id = static_cast<task::SlotId>(net.program.slots.size());
  net.program.slots.push_back(view);
  net.program.slot_names.push_back("view");
  net.memory.emplace_back();
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 4 * tolerance(DType::kF16, 64));
}

/// The launches of a layer norm of `dims`.
std::vector<cuda::Launch> launches(const Dims& dims) {
  Net net(68);
  net.add_task(make_norm(net, {dims, DType::kF16, DType::kF16}, NormTask::Kind::kLayer));
  auto made = cuda::make_launches({net.program.records[0], net.program.slots, {}});
  EXPECT_TRUE(made.ok());
  return made.ok() ? made.value() : std::vector<cuda::Launch>{};
}

int team_of(const cuda::Launch& launch) {
  cuda::NormParams p;
  std::memcpy(&p, launch.params.data(), sizeof p);
  return p.team;
}

TEST(NormOnDevice, ARowIsCutTheSameWayAmongAnyNumberOfRows) {
  for (const int64_t n : {5, 768, 4096}) {
    const auto one = launches({1, n}), many = launches({3000, n});
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].source, many[0].source);
    EXPECT_EQ(team_of(one[0]), team_of(many[0]));
  }
}

TEST(NormOnDevice, OneKernelServesAllLengths) {
  EXPECT_EQ(launches({7, 384})[0].source, launches({1, 4096})[0].source);
}

TEST(NormOnDevice, EightBitFloatsAreDeclinedWithASentence) {
  Net net(69);
  NormTask task = make_norm(net, {{2, 8}}, NormTask::Kind::kRms);
  task.x.id = net.add(DType::kF8E4M3, {2, 8});
  net.add_task(task);
  const auto made = cuda::make_launches({net.program.records[0], net.program.slots, {}});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace tw::gpu
