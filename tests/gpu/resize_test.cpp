// resize on the device against the CPU executor. Coordinates and weights are computed in double
// as the CPU does, and blends are rounded in its order: results are the same but for rare
// roundings.
#include <cmath>

#include "backends/cuda/launch.h"
#include "device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::ResizeTask;
using Kind = ResizeTask::Kind;
using Coordinates = ResizeTask::Coordinates;
using Nearest = ResizeTask::Nearest;

constexpr Coordinates kCoordinates[] = {Coordinates::kHalfPixel, Coordinates::kPytorchHalfPixel,
                                        Coordinates::kAlignCorners, Coordinates::kAsymmetric,
                                        Coordinates::kHalfPixelSymmetric};

struct Case {
  Dims x;
  Dims out;  // spatial
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

ResizeTask make_resize(Net& net, const Case& c, Kind kind) {
  ResizeTask task;
  task.kind = kind;
  task.x.id = net.add(c.dtype, c.x, c.lie, is_float(c.dtype) ? 1 : 100);
  Dims y = {c.x[0]};
  for (const int64_t dim : c.out) y.push_back(dim);
  y.push_back(c.x.back());
  task.y.id = net.add(c.dtype, y, c.lie);
  task.scale_from_sizes = 1;
  return task;
}

double tolerance(DType dtype) {
  return dtype == DType::kF64    ? 0x1p-50
         : dtype == DType::kF32  ? 0x1p-22
         : dtype == DType::kBF16 ? 0x1p-7
         : dtype == DType::kF16  ? 0x1p-10
                                 : 0;
}

void check_nearest(const Case& c, Coordinates coordinates, Nearest nearest) {
  SCOPED_TRACE(cat(join(c.x, "x"), " to ", join(c.out, "x"), " coordinates ",
                   static_cast<int>(coordinates), " nearest ", static_cast<int>(nearest)));
  Net net(101);
  ResizeTask task = make_resize(net, c, Kind::kNearest);
  task.coordinates = coordinates;
  task.nearest = nearest;
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
}

TEST(ResizeOnDevice, NearestChoosesTheElementsOfTheCpu) {
  for (const Coordinates coordinates : kCoordinates)
    for (const Nearest nearest :
         {Nearest::kRoundPreferFloor, Nearest::kRoundPreferCeil, Nearest::kFloor, Nearest::kCeil})
      check_nearest({{2, 10, 12, 8}, {7, 31}, DType::kF16}, coordinates, nearest);
  const Case cases[] = {{{1, 5, 7, 8}, {10, 14}},
                        {{1, 9, 3}, {4}},
                        {{1, 3, 4, 5, 2}, {6, 4, 9}, DType::kF64},
                        {{1, 6, 5, 16}, {13, 5}, DType::kU8}};
  for (const Case& c : cases) {
    check_nearest(c, Coordinates::kHalfPixel, Nearest::kRoundPreferFloor);
    check_nearest(c, Coordinates::kAsymmetric, Nearest::kFloor);
  }
}

void check_blend(const Case& c, Kind kind, Coordinates coordinates, bool exclude_outside) {
  SCOPED_TRACE(cat(join(c.x, "x"), " to ", join(c.out, "x"), " kind ", static_cast<int>(kind),
                   " coordinates ", static_cast<int>(coordinates)));
  Net net(102);
  ResizeTask task = make_resize(net, c, kind);
  task.coordinates = coordinates;
  task.exclude_outside = exclude_outside ? 1 : 0;
  net.add_task(task);
  expect_same_on_device(net, task.y.id, tolerance(c.dtype));
}

TEST(ResizeOnDevice, BlendsAreThoseOfTheCpu) {
  const Case cases[] = {{{2, 6, 5, 8}, {9, 3}, DType::kF16},
                        {{1, 9, 3}, {17}, DType::kBF16},
                        {{1, 3, 4, 5, 4}, {6, 3, 7}},
                        {{1, 4, 4, 3}, {9, 9}, DType::kF64}};
  for (const Kind kind : {Kind::kLinear, Kind::kCubic}) {
    for (const Coordinates coordinates : kCoordinates)
      for (const bool exclude_outside : {false, true})
        check_blend({{1, 5, 7, 8}, {10, 14}}, kind, coordinates, exclude_outside);
    for (const Case& c : cases) check_blend(c, kind, Coordinates::kHalfPixel, false);
  }
}

TEST(ResizeOnDevice, ScalesMayDifferFromTheRatioOfSizes) {
  for (const Kind kind : {Kind::kNearest, Kind::kLinear}) {
    for (const Coordinates coordinates : kCoordinates) {
      Net net(103);
      ResizeTask task = make_resize(net, {{1, 7, 9, 4}, {10, 6}}, kind);
      task.scale_from_sizes = 0;
      task.scale = {1.5F, 0.7F, 1};
      task.coordinates = coordinates;
      net.add_task(task);
      expect_same_on_device(net, task.y.id, kind == Kind::kNearest ? 0 : tolerance(DType::kF32));
    }
  }
}

TEST(ResizeOnDevice, OddChannelsAndTurnedImages) {
  const Case cases[] = {{{2, 5, 4, 3}, {8, 9}, DType::kF16},
                        {{1, 5, 4, 9}, {8, 9}, DType::kF32, Lie::kGaps},
                        {{1, 5, 4, 8}, {7, 6}, DType::kF16, Lie::kTurned},
                        {{1, 1, 1, 1}, {1, 1}},
                        {{1, 1, 1, 2}, {3, 4}},
                        {{0, 3, 3, 2}, {6, 6}},
                        {{1, 6, 6, 3}, {300, 2}, DType::kF16}};
  for (const Case& c : cases) {
    for (const Kind kind : {Kind::kNearest, Kind::kLinear, Kind::kCubic}) {
      SCOPED_TRACE(cat(join(c.x, "x"), " kind ", static_cast<int>(kind)));
      Net net(104);
      const ResizeTask task = make_resize(net, c, kind);
      net.add_task(task);
      expect_same_on_device(net, task.y.id, kind == Kind::kNearest ? 0 : tolerance(c.dtype));
    }
  }
}

TEST(ResizeOnDevice, IntegersAreBlendedAsFloatsAndTruncated) {
  for (const DType dtype : {DType::kU8, DType::kI32}) {
    for (const Kind kind : {Kind::kLinear, Kind::kCubic}) {
      Net net(105);
      const ResizeTask task = make_resize(net, {{1, 8, 8, 3}, {15, 5}, dtype}, kind);
      net.add_task(task);
      expect_same_on_device(net, task.y.id, 0);
    }
  }
}

TEST(ResizeOnDevice, ImagesOfProductionModels) {
  Net net(106);  // an upsampling of YOLOv8's neck
  ResizeTask task = make_resize(net, {{1, 40, 40, 64}, {80, 80}, DType::kF16}, Kind::kNearest);
  task.coordinates = Coordinates::kAsymmetric;
  task.nearest = Nearest::kFloor;
  net.add_task(task);
  expect_same_on_device(net, task.y.id, 0);
  Net masks(107);  // masks of a segmentation to the size of the picture
  const ResizeTask linear =
      make_resize(masks, {{1, 32, 32, 5}, {128, 128}, DType::kF32}, Kind::kLinear);
  masks.add_task(linear);
  expect_same_on_device(masks, linear.y.id, tolerance(DType::kF32));
}

TEST(ResizeOnDevice, OneKernelServesAllImagesAndCoordinates) {
  const auto source = [](const Dims& x, const Dims& out, Coordinates coordinates) {
    Net net(108);
    ResizeTask task = make_resize(net, {x, out, DType::kF16}, Kind::kLinear);
    task.coordinates = coordinates;
    net.add_task(task);
    const auto made = cuda::make_launches({net.program.records[0], net.program.slots, {}});
    return made.ok() ? made.value().at(0).source : made.error().message;
  };
  EXPECT_EQ(source({1, 20, 20, 512}, {40, 40}, Coordinates::kAsymmetric),
            source({8, 7, 9, 64}, {3, 30}, Coordinates::kAlignCorners));
}

}  // namespace
}  // namespace tw::gpu
