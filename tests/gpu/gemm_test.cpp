// Products on the device against the CPU's: types, layouts, batches, epilogues, and the promise
// that a row's bits do not depend on how a product is cut.
#include <cmath>

#include "backends/cuda/tasks/gemm_config.h"
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::instr;
using cpu::Lie;
using cpu::Net;
using task::Lane;
using task::PointOp;

/// Twice the rounding of the result's type, and fp32 sums of k products of numbers up to 1.
double tolerance(DType dtype, int64_t k, bool tf32 = false) {
  const double rounding = dtype == DType::kF16 ? 0x1p-10 : dtype == DType::kBF16 ? 0x1p-7 : 0x1p-22;
  const auto terms = static_cast<double>(k);
  return rounding + terms * 0x1p-22 + (tf32 ? std::sqrt(terms) * 0x1p-9 : 0);
}

struct GemmCase {
  Dims a, b, c;
  bool transpose = false;
  DType dtype = DType::kF16;
  Lie lie = Lie::kDense;
  bool weight = false, bias = true;
  float alpha = 1;
  uint8_t flags = 0, variant = 0;
};

task::GemmTask add_gemm(Net& net, const GemmCase& c) {
  task::GemmTask task;
  task.a.id = net.add(c.dtype, c.a, c.lie);
  task.b.id = c.weight ? net.add_immutable(c.dtype, c.b) : net.add(c.dtype, c.b, c.lie);
  if (c.bias) task.bias.id = net.add(c.dtype, {c.c.back()});
  task.c.id = net.add(c.dtype, c.c, c.lie);
  task.alpha = c.alpha;
  task.transpose_b = c.transpose ? 1 : 0;
  return task;
}

void add_record(Net& net, const task::GemmTask& task, const GemmCase& c) {
  net.add_task(task);
  net.program.records.back().flags = c.flags;
  net.program.records.back().variant = c.variant;
}

void expect_gemm(const GemmCase& c) {
  SCOPED_TRACE(cat(join(c.a, "x"), " by ", join(c.b, "x"), " ", c.dtype, " variant ", c.variant));
  Net net(1);
  const task::GemmTask task = add_gemm(net, c);
  add_record(net, task, c);
  expect_same_on_device(net, task.c.id,
                        tolerance(c.dtype, c.a.back(), (c.flags & cuda::kAllowTf32) != 0));
}

constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};

TEST(GemmOnDevice, OddShapesOfEveryType) {
  for (const DType dtype : kFloats) {
    expect_gemm({{5, 7}, {7, 9}, {5, 9}, false, dtype});
    expect_gemm({{100, 33}, {33, 300}, {100, 300}, false, dtype});
    expect_gemm({{100, 33}, {300, 33}, {100, 300}, true, dtype});
    expect_gemm({{33, 72}, {40, 72}, {33, 40}, true, dtype});
    expect_gemm({{1, 1}, {1, 1}, {1, 1}, false, dtype});
    expect_gemm({{129, 200}, {130, 200}, {129, 130}, true, dtype});
  }
}

TEST(GemmOnDevice, EmptySides) {
  expect_gemm({{3, 0}, {0, 4}, {3, 4}});
  expect_gemm({{0, 3}, {3, 4}, {0, 4}});
  expect_gemm({{3, 4}, {4, 0}, {3, 0}});
}

TEST(GemmOnDevice, WeightsOfEveryTypePackedOrNot) {
  for (const DType dtype : kFloats) {
    expect_gemm({{70, 40}, {40, 90}, {70, 90}, false, dtype, Lie::kDense, true});
    expect_gemm({{70, 41}, {90, 41}, {70, 90}, true, dtype, Lie::kDense, true});
    expect_gemm({{2, 35, 256}, {256, 72}, {2, 35, 72}, false, dtype, Lie::kDense, true});
  }
}

TEST(GemmOnDevice, StridedOperands) {
  for (const DType dtype : kFloats) {
    expect_gemm({{9, 17}, {17, 20}, {9, 20}, false, dtype, Lie::kGaps});
    expect_gemm({{9, 17}, {20, 17}, {9, 20}, true, dtype, Lie::kTurned});
    expect_gemm({{50, 62}, {62, 46}, {50, 46}, false, dtype, Lie::kGaps, true});
  }
}

TEST(GemmOnDevice, BatchesBroadcast) {
  for (const DType dtype : kFloats) {
    expect_gemm({{2, 3, 50, 20}, {2, 3, 20, 60}, {2, 3, 50, 60}, false, dtype, Lie::kGaps});
    expect_gemm({{2, 3, 50, 20},
                 {3, 60, 20},
                 {2, 3, 50, 60},
                 true,
                 dtype,
                 Lie::kTurned,
                 false,
                 true,
                 0.5F});
    expect_gemm({{1, 4, 8}, {6, 8, 3}, {6, 4, 3}, false, dtype});
    expect_gemm({{2, 12, 64, 64}, {2, 12, 64, 64}, {2, 12, 64, 64}, true, dtype});
  }
}

TEST(GemmOnDevice, ShapesOfBert) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    expect_gemm({{1, 128, 768}, {768, 2304}, {1, 128, 2304}, false, dtype, Lie::kDense, true});
    expect_gemm({{1, 128, 768}, {768, 768}, {1, 128, 768}, false, dtype, Lie::kDense, true});
    expect_gemm({{1, 128, 3072}, {3072, 768}, {1, 128, 768}, false, dtype, Lie::kDense, true});
    expect_gemm({{1, 512, 768}, {768, 3072}, {1, 512, 3072}, false, dtype, Lie::kDense, true});
  }
}

TEST(GemmOnDevice, Tf32WhereItIsAllowed) {
  const auto tf32 = cuda::kAllowTf32;
  expect_gemm(
      {{128, 768}, {768, 768}, {128, 768}, false, DType::kF32, Lie::kDense, true, true, 1, tf32});
  expect_gemm({{33, 70}, {70, 21}, {33, 21}, false, DType::kF32, Lie::kGaps, false, true, 1, tf32});
}

/// [m, k] by a weight [k, n], with a bias.
void expect_weighed(int64_t m, int64_t k, int64_t n, DType dtype, uint8_t flags, uint8_t variant) {
  expect_gemm({{m, k}, {k, n}, {m, n}, false, dtype, Lie::kDense, true, true, 1, flags, variant});
}

TEST(GemmOnDevice, EveryTileOfEveryType) {
  const auto n_variants = static_cast<uint8_t>(2 * cuda::tile_configs().size());
  for (uint8_t variant = 1; variant <= n_variants; ++variant) {
    expect_weighed(300, 520, 296, DType::kF16, 0, variant);
    expect_weighed(140, 200, 136, DType::kF32, 0, variant);
    expect_weighed(140, 200, 136, DType::kF32, cuda::kAllowTf32, variant);
    expect_weighed(300, 520, 297, DType::kF16, 0, variant);  // odd columns are stored one at a time
  }
}

/// The last tiles cut, fewer tiles of K than stages.
TEST(GemmOnDevice, AWarpThatAsksForBoxes) {
  const auto tiles = cuda::tile_configs();
  for (size_t i = 0; i < tiles.size(); ++i) {
    if (!tiles[i].producer) continue;
    SCOPED_TRACE(tiles[i].name);
    const auto variant = static_cast<uint8_t>(1 + 2 * i);
    expect_weighed(1100, 520, 2200, DType::kF16, 0, variant);
    expect_weighed(130, 64, 4360, DType::kBF16, 0, variant);
    expect_weighed(70, 1544, 2304, DType::kF16, 0, variant);
    expect_weighed(3000, 136, 2304, DType::kF16, 0, variant);
  }
}

TEST(GemmOnDevice, TheEpilogueSeesSumsAndExtras) {
  for (const DType dtype : kFloats) {
    Net net(4);
    task::GemmTask task = add_gemm(net, {{60, 32}, {32, 312}, {60, 312}, false, dtype});
    task.extra[0].id = net.add(dtype, {60, 312});
    task.extra[1].id = net.add(DType::kF32, {312});
    task.extra[2].id = net.add(dtype, {60, 1});
    task.extra[3].id = net.add(DType::kF32, {});
    task.epilogue = net.add_program(
        5, {8},
        {instr(PointOp::kAdd, Lane::kF32, 5, 0, 2), instr(PointOp::kRelu, Lane::kF32, 6, 5),
         instr(PointOp::kAdd, Lane::kF32, 6, 6, 1), instr(PointOp::kMul, Lane::kF32, 7, 6, 3),
         instr(PointOp::kAdd, Lane::kF32, 8, 7, 4)});
    net.add_task(task);
    expect_same_on_device(net, task.c.id, 2 * tolerance(dtype, 32));
  }
}

TEST(GemmOnDevice, ExtrasOfEveryBroadcastAndLie) {
  Net net(5);
  task::GemmTask task = add_gemm(net, {{2, 3, 20, 24}, {24, 17}, {2, 3, 20, 17}});
  task.extra[0].id = net.add(DType::kF16, {2, 3, 20, 17}, Lie::kTurned);
  task.extra[1].id = net.add(DType::kF16, {3, 1, 17}, Lie::kGaps);
  task.extra[2].id = net.add(DType::kF32, {2, 1, 20, 1});
  task.epilogue = net.add_program(
      4, {6},
      {instr(PointOp::kAdd, Lane::kF32, 4, 0, 1), instr(PointOp::kMul, Lane::kF32, 5, 4, 2),
       instr(PointOp::kAdd, Lane::kF32, 6, 5, 3)});
  net.add_task(task);
  expect_same_on_device(net, task.c.id, 2 * tolerance(DType::kF16, 24));
}

TEST(GemmOnDevice, GeluAndResidualBehindASplitSum) {
  Net net(6);
  task::GemmTask task =
      add_gemm(net, {{128, 1024}, {1024, 256}, {128, 256}, false, DType::kF16, Lie::kDense, true});
  task.extra[0].id = net.add(DType::kF16, {128, 256});
  task.epilogue = net.add_program(
      2, {3}, {instr(PointOp::kGelu, Lane::kF32, 2, 0), instr(PointOp::kAdd, Lane::kF32, 3, 2, 1)});
  net.add_task(task);
  expect_same_on_device(net, task.c.id, 2 * tolerance(DType::kF16, 1024));
}

TEST(GemmOnDevice, AnotherTypeForTheResult) {
  Net net(7);
  task::GemmTask task;
  task.a.id = net.add(DType::kF16, {40, 64});
  task.b.id = net.add_immutable(DType::kF16, {64, 48});
  task.c.id = net.add(DType::kF32, {40, 48});
  net.add_task(task);
  expect_same_on_device(net, task.c.id, tolerance(DType::kF32, 64));
}

}  // namespace
}  // namespace tw::gpu
