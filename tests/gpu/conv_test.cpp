// Convolutions on the device against the CPU's: windows, groups, depthwise, layouts, epilogues.
#include "backends/cuda/tasks/conv_patch.h"
#include "backends/cuda/tasks/conv_slide.h"
#include "backends/cuda/tasks/gemm_config.h"
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::instr;
using cpu::Lie;
using cpu::Net;
using task::Lane;
using task::PointOp;

struct ConvCase {
  Dims x, w;
  int32_t groups = 1;
  int16_t stride = 1, dilation = 1, pad = 0;
  DType dtype = DType::kF16;
  Lie lie = Lie::kDense;
  uint8_t variant = 0;
  bool weight = true;
};

int64_t output_size(int64_t in, int64_t kernel, const ConvCase& c) {
  return (in + 2 * c.pad - (kernel - 1) * c.dilation - 1) / c.stride + 1;
}

/// Twice the rounding of the result's type, and fp32 sums of the window's products of numbers up
/// to 1.
double tolerance(const ConvCase& c) {
  const double rounding = c.dtype == DType::kF16    ? 0x1p-10
                          : c.dtype == DType::kBF16 ? 0x1p-7
                                                    : 0x1p-22;
  return rounding +
         static_cast<double>(element_count(c.w) / std::max<int64_t>(1, c.w[0])) * 0x1p-22;
}

task::ConvTask make_conv(Net& net, const ConvCase& c) {
  task::ConvTask task;
  task.x.id = net.add(c.dtype, c.x, c.lie);
  task.w.id = c.weight ? net.add_immutable(c.dtype, c.w) : net.add(c.dtype, c.w, c.lie);
  task.bias.id = net.add(c.dtype, {c.w[0]});
  task.groups = c.groups;
  Dims y = {c.x[0]};
  for (size_t d = 0; d + 2 < c.x.size(); ++d) {
    task.kernel[d] = static_cast<int16_t>(c.w[d + 2]);
    task.stride[d] = c.stride;
    task.dilation[d] = c.dilation;
    task.pad[d] = c.pad;
    y.push_back(output_size(c.x[d + 1], c.w[d + 2], c));
  }
  y.push_back(c.w[0]);
  task.y.id = net.add(c.dtype, y, c.lie);
  return task;
}

void expect_conv(const ConvCase& c) {
  SCOPED_TRACE(cat(join(c.x, "x"), " by ", join(c.w, "x"), " ", c.dtype, " groups ", c.groups,
                   " variant ", c.variant));
  Net net(41);
  const task::ConvTask task = make_conv(net, c);
  net.add_task(task);
  net.program.records.back().variant = c.variant;
  expect_same_on_device(net, task.y.id, tolerance(c));
}

constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};

TEST(ConvOnDevice, WindowsOfEveryType) {
  for (const DType dtype : kFloats) {
    expect_conv({{2, 9, 11, 16}, {24, 16, 3, 3}, 1, 1, 1, 1, dtype});
    expect_conv({{1, 12, 13, 8}, {16, 8, 5, 5}, 1, 2, 1, 2, dtype});
    expect_conv({{1, 12, 13, 24}, {20, 24, 3, 3}, 1, 1, 2, 2, dtype});
    expect_conv({{2, 9, 11, 3}, {8, 3, 3, 3}, 1, 2, 1, 1, dtype});
    expect_conv({{1, 3, 3, 4}, {5, 4, 3, 3}, 1, 1, 1, 3, dtype});
    expect_conv({{1, 1, 1, 1}, {1, 1, 1, 1}, 1, 1, 1, 0, dtype});
  }
}

TEST(ConvOnDevice, OneAndThreeSpatialDims) {
  expect_conv({{2, 40, 8}, {7, 8, 5}, 1, 2, 1, 2});
  expect_conv({{2, 40, 5}, {7, 5, 5}, 1, 2, 1, 2});
  expect_conv({{1, 5, 6, 7, 8}, {16, 8, 3, 3, 3}, 1, 1, 1, 1});
  expect_conv({{2, 5, 6, 7, 2}, {3, 2, 3, 3, 3}, 1, 2, 1, 1});
}

TEST(ConvOnDevice, Pointwise) {
  for (const DType dtype : kFloats) {
    expect_conv({{1, 14, 14, 16}, {24, 16, 1, 1}, 1, 1, 1, 0, dtype});
    expect_conv({{2, 14, 15, 16}, {24, 16, 1, 1}, 1, 2, 1, 0, dtype});
    expect_conv({{1, 14, 14, 16}, {24, 16, 1, 1}, 1, 1, 1, 1, dtype});
    expect_conv({{1, 14, 14, 20}, {13, 20, 1, 1}, 1, 1, 1, 0, dtype, Lie::kGaps});
  }
}

TEST(ConvOnDevice, EmptyBatch) { expect_conv({{0, 4, 4, 2}, {3, 2, 3, 3}, 1, 1, 1, 1}); }

TEST(ConvOnDevice, StridedOperands) {
  for (const DType dtype : kFloats) {
    expect_conv({{1, 8, 9, 14}, {6, 14, 3, 3}, 1, 1, 1, 1, dtype, Lie::kGaps});
    expect_conv({{2, 8, 9, 16}, {6, 16, 3, 3}, 1, 1, 1, 1, dtype, Lie::kTurned});
    expect_conv({{2, 8, 9, 16}, {8, 16, 3, 3}, 1, 1, 1, 1, dtype, Lie::kGaps, 0, false});
  }
}

TEST(ConvOnDevice, Groups) {
  expect_conv({{1, 10, 10, 12}, {6, 4, 3, 3}, 3, 2, 1, 1});
  expect_conv({{2, 10, 10, 32}, {48, 16, 3, 3}, 2, 1, 1, 1});
  expect_conv({{2, 10, 10, 32}, {16, 16, 1, 1}, 2, 1, 1, 0});
  expect_conv({{1, 10, 10, 32}, {32, 16, 3, 3}, 2, 1, 1, 1, DType::kF32});
}

TEST(ConvOnDevice, Depthwise) {
  for (const DType dtype : kFloats) {
    expect_conv({{2, 12, 13, 16}, {16, 1, 3, 3}, 16, 1, 1, 1, dtype});
    expect_conv({{2, 12, 13, 10}, {10, 1, 3, 3}, 10, 2, 1, 1, dtype});
    expect_conv({{1, 17, 18, 24}, {24, 1, 5, 5}, 24, 1, 1, 2, dtype});
    expect_conv({{1, 17, 18, 24}, {24, 1, 5, 5}, 24, 2, 1, 2, dtype});
    expect_conv({{1, 12, 13, 8}, {16, 1, 3, 3}, 8, 1, 2, 2, dtype});
    expect_conv({{1, 12, 13, 8}, {8, 1, 7, 1}, 8, 1, 1, 3, dtype});
    expect_conv({{1, 12, 13, 8}, {8, 1, 3, 3}, 8, 1, 1, 1, dtype, Lie::kGaps, 0, false});
    expect_conv({{1, 12, 13, 8}, {8, 1, 3, 3}, 8, 1, 1, 1, dtype, Lie::kTurned});
  }
}

TEST(ConvOnDevice, DepthwiseOfLargeImages) {
  expect_conv({{1, 80, 163, 32}, {32, 1, 3, 3}, 32, 1, 1, 1});
  expect_conv({{1, 80, 163, 32}, {32, 1, 3, 3}, 32, 2, 1, 1, DType::kF32});
  expect_conv({{1, 80, 163, 64}, {64, 1, 5, 5}, 64, 1, 1, 2, DType::kF32});
}

TEST(ConvOnDevice, ImagesOfFewChannels) {
  for (const int64_t channels : {1, 2, 3, 4, 5, 6, 7})
    for (const int16_t stride : std::array<int16_t, 3>{1, 2, 3})
      expect_conv({{2, 19, 23, channels}, {72, channels, 3, 3}, 1, stride, 1, 1});
  expect_conv({{3, 33, 35, 3}, {16, 3, 7, 7}, 1, 2, 1, 3, DType::kBF16});
  expect_conv({{3, 13, 17, 3}, {36, 3, 3, 3}, 1, 1, 2, 2});
  expect_conv({{2, 24, 24, 3}, {96, 3, 4, 4}, 1, 4, 1, 0});
  expect_conv({{1, 24, 24, 3}, {32, 3, 3, 3}, 1, 5, 1, 1});
  expect_conv({{1, 40, 40, 3}, {64, 3, 3, 3}, 1, 1, 9, 9});
  expect_conv({{1, 700, 5}, {8, 5, 5}, 1, 3, 1, 2});
  for (const DType dtype : kFloats) expect_conv({{2, 21, 20, 3}, {64, 3, 7, 7}, 1, 2, 1, 3, dtype});
}

TEST(ConvOnDevice, FewChannelsInNarrowImagesAndOddStrides) {
  for (const int64_t width : {1, 2, 3, 9})
    expect_conv({{5, 60, width, 3}, {32, 3, 3, 3}, 1, 1, 1, 1});
  for (const int64_t channels : {1, 2, 3, 4})
    for (const Lie lie : {Lie::kGaps, Lie::kTurned})
      expect_conv({{2, 15, 18, channels}, {32, channels, 3, 3}, 1, 1, 1, 1, DType::kF16, lie});
  expect_conv({{2, 15, 18, 3}, {32, 3, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, 0, false});
  for (const uint8_t variant : std::array<uint8_t, 3>{1, 3, 5})
    for (const int64_t channels : {4, 12, 32, 64, 100})
      expect_conv(
          {{2, 40, 37, 3}, {channels, 3, 7, 7}, 1, 2, 1, 3, DType::kF16, Lie::kDense, variant});
}

TEST(ConvOnDevice, PatchesOfWholeUnitsWhereTheyAreAskedFor) {
  for (int variant = 1; variant <= cuda::last_slide_variant(); ++variant) {
    const auto v = static_cast<uint8_t>(variant);
    if (!cuda::is_patch_variant(v)) continue;
    for (const int64_t channels : {8, 16, 48, 96, 192}) {
      expect_conv(
          {{2, 31, 37, channels}, {32, channels, 1, 1}, 1, 1, 1, 0, DType::kF16, Lie::kDense, v});
      expect_conv(
          {{1, 31, 37, channels}, {100, channels, 1, 1}, 1, 2, 1, 0, DType::kBF16, Lie::kDense, v});
    }
    expect_conv({{2, 31, 37, 16}, {24, 16, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, v});
    expect_conv({{2, 31, 37, 16}, {24, 16, 1, 1}, 1, 1, 1, 1, DType::kF16, Lie::kGaps, v});
  }
}

TEST(ConvOnDevice, WindowsThatSlideOverAPatchInEveryTile) {
  for (int variant = 1; variant <= cuda::last_slide_variant(); ++variant) {
    const auto v = static_cast<uint8_t>(variant);
    if (!cuda::is_slide_variant(v)) continue;
    for (const int64_t channels : {16, 32, 48, 64, 96, 128})
      expect_conv(
          {{2, 31, 37, channels}, {40, channels, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, v});
    expect_conv({{1, 56, 56, 64}, {64, 64, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, v});
    expect_conv({{3, 14, 14, 256}, {72, 256, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, v});
    expect_conv({{3, 7, 7, 256}, {128, 256, 3, 3}, 1, 1, 1, 1, DType::kBF16, Lie::kDense, v});
    expect_conv({{2, 9, 300, 64}, {24, 64, 3, 5}, 1, 1, 1, 0, DType::kF16, Lie::kDense, v});
    expect_conv({{2, 61, 5, 32}, {136, 32, 7, 1}, 1, 1, 1, 3, DType::kF16, Lie::kGaps, v});
  }
}

TEST(ConvOnDevice, ShapesOfResnet) {
  expect_conv({{1, 224, 224, 3}, {64, 3, 7, 7}, 1, 2, 1, 3});
  expect_conv({{1, 56, 56, 64}, {64, 64, 3, 3}, 1, 1, 1, 1});
  expect_conv({{1, 28, 28, 512}, {128, 512, 1, 1}, 1, 1, 1, 0});
  expect_conv({{1, 56, 56, 128}, {128, 128, 3, 3}, 1, 2, 1, 1});
  expect_conv({{1, 14, 14, 256}, {256, 256, 3, 3}, 1, 1, 1, 1});
  expect_conv({{1, 7, 7, 512}, {512, 512, 3, 3}, 1, 1, 1, 1});
  expect_conv({{3, 7, 7, 512}, {512, 512, 3, 3}, 1, 1, 1, 1});
  expect_conv({{1, 56, 56, 256}, {512, 256, 1, 1}, 1, 2, 1, 0});
}

TEST(ConvOnDevice, EveryTile) {
  for (uint8_t variant = 1; variant <= cuda::last_slide_variant(); ++variant)
    expect_conv({{2, 14, 14, 40}, {72, 40, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, variant});
}

/// Tiles, patches and sliding windows are ways to one sum.
TEST(ConvOnDevice, EveryVariantGivesTheSameBits) {
  for (const ConvCase& c : {ConvCase{{2, 31, 37, 96}, {24, 96, 3, 3}, 1, 1, 1, 1},
                            ConvCase{{1, 31, 37, 64}, {40, 64, 3, 3}, 1, 1, 1, 1},
                            ConvCase{{3, 61, 67, 64}, {200, 64, 3, 3}, 1, 1, 1, 1},
                            ConvCase{{2, 31, 37, 16}, {32, 16, 1, 1}, 1, 1, 1, 0}}) {
    std::vector<std::byte> first;
    for (int variant = 0; variant <= cuda::last_slide_variant(); ++variant) {
      SCOPED_TRACE(cat(join(c.x, "x"), " variant ", variant));
      Net net(47);
      const task::ConvTask task = make_conv(net, c);
      net.add_task(task);
      net.program.records.back().variant = static_cast<uint8_t>(variant);
      expect_bits(net, task.y.id, first);
    }
  }
  if (!has_device()) GTEST_SKIP() << "no GPU: the kernels were compiled only";
}

TEST(ConvOnDevice, TheEpilogueAddsAResidualAndScalesChannels) {
  for (const ConvCase& c : {ConvCase{{2, 9, 11, 16}, {24, 16, 3, 3}, 1, 1, 1, 1},
                            ConvCase{{2, 9, 11, 16}, {16, 1, 3, 3}, 16, 1, 1, 1},
                            ConvCase{{2, 9, 11, 16}, {24, 8, 3, 3}, 2, 1, 1, 1}}) {
    Net net(43);
    task::ConvTask task = make_conv(net, c);
    task.extra[0].id = net.add(DType::kF16, net.slot(task.y.id).shape());
    task.extra[1].id = net.add(DType::kF16, {2, 1, 1, c.w[0]});
    task.extra[2].id = net.add(DType::kF32, {9, 1, 1});
    task.epilogue = net.add_program(
        4, {7},
        {instr(PointOp::kRelu, Lane::kF32, 4, 0), instr(PointOp::kMul, Lane::kF32, 5, 4, 2),
         instr(PointOp::kAdd, Lane::kF32, 6, 5, 1), instr(PointOp::kMul, Lane::kF32, 7, 6, 3)});
    net.add_task(task);
    expect_same_on_device(net, task.y.id, 4 * tolerance(c));
  }
}

/// Rows of a residual, read while other tiles are summed; the last tile is cut.
TEST(ConvOnDevice, AWarpThatAsksForBoxesLeavesRoomForAResidual) {
  const auto tiles = cuda::tile_configs();
  for (size_t i = 0; i < tiles.size(); ++i) {
    if (!tiles[i].producer) continue;
    SCOPED_TRACE(tiles[i].name);
    Net net(44);
    const ConvCase c{{5, 61, 67, 64}, {264, 64, 1, 1}, 1, 1, 1, 0};
    task::ConvTask task = make_conv(net, c);
    task.extra[0].id = net.add(DType::kF16, net.slot(task.y.id).shape());
    task.epilogue = net.add_program(
        2, {3},
        {instr(PointOp::kAdd, Lane::kF32, 2, 0, 1), instr(PointOp::kRelu, Lane::kF32, 3, 2)});
    net.add_task(task);
    net.program.records.back().variant = static_cast<uint8_t>(1 + 2 * i);
    expect_same_on_device(net, task.y.id, 4 * tolerance(c));
  }
}

/// Whole multiples of 64 channels: pixels come as boxes (kernels/gemm_tiles.cuh).
TEST(ConvOnDevice, PixelsAsBoxesInEveryTile) {
  const auto n_tiles = cuda::tile_configs().size();
  for (size_t i = 0; i < n_tiles; ++i) {
    if (!cuda::tile_configs()[i].groups) continue;
    for (const size_t cluster : {size_t{0}, size_t{1}}) {
      const auto variant = static_cast<uint8_t>(1 + 2 * i + cluster);
      expect_conv({{3, 9, 11, 64}, {72, 64, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kDense, variant});
      expect_conv(
          {{2, 17, 13, 128}, {40, 128, 3, 3}, 1, 2, 1, 1, DType::kBF16, Lie::kDense, variant});
      expect_conv(
          {{2, 15, 13, 128}, {64, 128, 1, 1}, 1, 2, 1, 0, DType::kF16, Lie::kDense, variant});
      if (cluster == 0 && cuda::tile_configs()[i].producer)
        expect_conv(
            {{3, 123, 67, 64}, {264, 64, 3, 3}, 1, 2, 1, 1, DType::kF16, Lie::kDense, variant});
    }
  }
}

TEST(ConvOnDevice, PixelsAsBoxesAtEveryPlaceOfAWindow) {
  for (const int16_t pad : std::array<int16_t, 3>{0, 1, 3})
    for (const int16_t dilation : std::array<int16_t, 2>{1, 2})
      for (const int16_t stride : std::array<int16_t, 3>{1, 2, 3})
        expect_conv({{3, 21, 18, 64}, {24, 64, 5, 3}, 1, stride, dilation, pad});
  expect_conv({{2, 21, 18, 64}, {24, 64, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kGaps});
  expect_conv({{70, 7, 7, 64}, {24, 64, 3, 3}, 1, 1, 1, 1});
  expect_conv({{1, 300, 3, 64}, {24, 64, 9, 1}, 1, 1, 1, 0});
  expect_conv({{2, 12, 12, 64}, {24, 64, 3, 3}, 1, 9, 1, 1});  // steps beyond what copies take
}

}  // namespace
}  // namespace tw::gpu
