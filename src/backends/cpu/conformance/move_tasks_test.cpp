// copy, gather, scatter, nonzero and resize.
#include <cmath>

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

TEST(CopyTask, BetweenAnyTwoWindows) {
  const Dims shapes[] = {{3, 500}, {70, 90}, {2, 3, 40, 50},          {5, 1, 7},
                         {},       {0, 3},   {2, 2, 2, 2, 2, 2, 2, 2}};
  for (const Dims& dims : shapes) {
    for (const DType dtype : {DType::kU8, DType::kF16, DType::kF32, DType::kI64}) {
      for (const Lie from : {Lie::kDense, Lie::kGaps, Lie::kTurned}) {
        for (const Lie to : {Lie::kDense, Lie::kTurned}) {
          Net net(31);
          task::CopyTask task;
          task.x.id = net.add(dtype, dims, from);
          task.y.id = net.add(dtype, dims, to);
          net.add_task(task);
          expect_result(net, task.y.id, [&](const Dims& at) { return net.get(task.x.id, at); }, 0);
        }
      }
    }
  }
}

/// A slot of indices in [-extent, extent).
task::SlotId add_indices(Net& net, DType dtype, const Dims& dims, int64_t extent) {
  const task::SlotId id = net.add(dtype, dims);
  std::uniform_int_distribution<int64_t> value(-extent, extent - 1);
  for_each_coordinate(dims, [&](const Dims& at) { net.set(id, at, double(value(net.random()))); });
  return id;
}

int64_t index_at(Net& net, task::SlotId index, const Dims& at, int64_t extent) {
  const int64_t i = net.get_int(index, at);
  return i < 0 ? i + extent : i;
}

TEST(GatherTask, TakesAlongAnAxis) {
  for (const int axis : {0, 1, 2}) {
    for (const Dims& index_dims : {Dims{}, Dims{5}, Dims{3, 4}}) {
      Net net(32);
      task::GatherTask task;
      const Dims x = {6, 7, 40};
      const int64_t extent = x[size_t(axis)];
      task.x.id = net.add(DType::kF32, x, axis == 1 ? Lie::kTurned : Lie::kDense);
      task.index.id = add_indices(net, axis == 0 ? DType::kI32 : DType::kI64, index_dims, extent);
      task.axis = static_cast<int8_t>(axis);
      Dims y;
      for (int d = 0; d < axis; ++d) y.push_back(x[size_t(d)]);
      for (const int64_t dim : index_dims) y.push_back(dim);
      for (size_t d = size_t(axis) + 1; d < 3; ++d) y.push_back(x[d]);
      task.y.id = net.add(DType::kF32, y);
      net.add_task(task);
      expect_result(
          net, task.y.id,
          [&](const Dims& at) {
            Dims from, which;
            const size_t n = index_dims.size(), a = size_t(axis);
            for (size_t d = 0; d < n; ++d) which.push_back(at[a + d]);
            for (size_t d = 0; d < a; ++d) from.push_back(at[d]);
            from.push_back(index_at(net, task.index.id, which, extent));
            for (size_t d = a + n; d < at.size(); ++d) from.push_back(at[d]);
            return net.get(task.x.id, from);
          },
          0);
    }
  }
}

TEST(GatherTask, ElementsAndNd) {
  Net net(33);
  task::GatherTask elements;
  elements.kind = task::GatherTask::Kind::kElements;
  elements.axis = 1;
  elements.x.id = net.add(DType::kI16, {4, 9, 6}, Lie::kGaps);
  elements.index.id = add_indices(net, DType::kI64, {3, 5, 6}, 9);
  elements.y.id = net.add(DType::kI16, {3, 5, 6});
  net.add_task(elements);
  expect_result(
      net, elements.y.id,
      [&](const Dims& at) {
        return net.get(elements.x.id, {at[0], index_at(net, elements.index.id, at, 9), at[2]});
      },
      0);
  Net other(34);
  task::GatherTask nd;
  nd.kind = task::GatherTask::Kind::kNd;
  nd.batch_dims = 1;
  nd.x.id = other.add(DType::kF64, {2, 5, 5, 3}, Lie::kGaps);
  nd.index.id = add_indices(other, DType::kI64, {2, 4, 2}, 5);
  nd.y.id = other.add(DType::kF64, {2, 4, 3});
  other.add_task(nd);
  expect_result(
      other, nd.y.id,
      [&](const Dims& at) {
        return other.get(nd.x.id, {at[0], index_at(other, nd.index.id, {at[0], at[1], 0}, 5),
                                   index_at(other, nd.index.id, {at[0], at[1], 1}, 5), at[2]});
      },
      0);
}

TEST(GatherTask, AnIndexOutOfRangeIsNamed) {
  Net net(35);
  task::GatherTask task;
  task.x.id = net.add(DType::kF32, {4, 3});
  task.index.id = net.add(DType::kI64, {2});
  net.set(task.index.id, {0}, 1);
  net.set(task.index.id, {1}, 4);
  task.y.id = net.add(DType::kF32, {2, 3});
  net.add_task(task);
  EXPECT_EQ(net.run({}), "task 0 (gather): index 4 on axis 0 is out of range: expected -4 to 3");
  net.slot(task.x.id).dims[0] = 0;
  EXPECT_NE(net.run({}), "");
}

TEST(ScatterTask, OfTuplesOutOfRangeTheFirstIsNamed) {
  Net net(37);
  task::ScatterTask task;
  task.kind = task::ScatterTask::Kind::kNd;
  task.index.id = net.add(DType::kI64, {3, 2});
  task.updates.id = net.add(DType::kF32, {3});
  task.y.id = net.add(DType::kF32, {4, 5});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t d = 0; d < 2; ++d) net.set(task.index.id, {i, d}, 0);
  net.set(task.index.id, {1, 1}, 5);
  net.set(task.index.id, {2, 0}, 4);
  net.add_task(task);
  EXPECT_EQ(net.run({}), "task 0 (scatter): index 5 on axis 1 is out of range: expected -5 to 4");
}

TEST(ScatterTask, DuplicatesMeetInOrder) {
  using Combine = task::ScatterTask::Combine;
  for (const Combine combine :
       {Combine::kReplace, Combine::kAdd, Combine::kMul, Combine::kMin, Combine::kMax}) {
    for (const bool nd : {false, true}) {
      Net net(36);
      task::ScatterTask task;
      task.kind = nd ? task::ScatterTask::Kind::kNd : task::ScatterTask::Kind::kElements;
      task.combine = combine;
      task.y.id = net.add(DType::kF32, {5, 4});
      task.index.id = add_indices(net, DType::kI64, nd ? Dims{9, 1} : Dims{9, 4}, 5);
      task.updates.id = net.add(DType::kF32, {9, 4});
      net.add_task(task);
      std::vector<double> wanted;
      for_each_coordinate({5, 4},
                          [&](const Dims& at) { wanted.push_back(net.get(task.y.id, at)); });
      for_each_coordinate({9, 4}, [&](const Dims& at) {
        const int64_t row = index_at(net, task.index.id, nd ? Dims{at[0], 0} : at, 5);
        double& old = wanted[size_t(row * 4 + at[1])];
        const double u = net.get(task.updates.id, at);
        const double results[] = {u, old + u, old * u, std::fmin(old, u), std::fmax(old, u)};
        old = results[static_cast<int>(combine)];
      });
      expect_result(
          net, task.y.id, [&](const Dims& at) { return wanted[size_t(at[0] * 4 + at[1])]; }, 1e-6);
    }
  }
}

TEST(NonZeroTask, CoordinatesInOrderAndTheirCount) {
  Net net(37);
  task::NonZeroTask task;
  task.x.id = net.add(DType::kBool, {5, 6}, Lie::kGaps);
  std::vector<Dims> set;
  for_each_coordinate({5, 6}, [&](const Dims& at) {
    const bool on = net.random()() % 3 == 0;
    net.set(task.x.id, at, on ? 1 : 0);
    if (on) set.push_back(at);
  });
  task.y.id = net.add(DType::kI64, {30, 2});
  task.count.id = net.add(DType::kI64, {1});
  net.add_task(task);
  expect_result(net, task.count.id, [&](const Dims&) { return double(set.size()); }, 0);
  expect_result(
      net, task.y.id,
      [&](const Dims& at) {
        return size_t(at[0]) < set.size() ? double(set[size_t(at[0])][size_t(at[1])]) : 0;
      },
      0);
}

TEST(ResizeTask, LinearHalfPixelBlendsNeighbours) {
  Net net(38);
  task::ResizeTask task;
  task.kind = task::ResizeTask::Kind::kLinear;
  task.scale_from_sizes = 1;
  task.x.id = net.add(DType::kF32, {2, 5, 7, 3}, Lie::kGaps);
  task.y.id = net.add(DType::kF32, {2, 9, 13, 3});
  net.add_task(task);
  const auto blend = [&](int64_t o, double in, double out, int64_t& low, int64_t& high) {
    const double x = (double(o) + 0.5) * in / out - 0.5, floor = std::floor(x);
    low = std::max<int64_t>(0, int64_t(floor));
    high = std::min(int64_t(in) - 1, int64_t(floor) + 1);
    return x - floor;
  };
  expect_result(
      net, task.y.id,
      [&](const Dims& at) {
        int64_t r0 = 0, r1 = 0, c0 = 0, c1 = 0;
        const double r = blend(at[1], 5, 9, r0, r1), c = blend(at[2], 7, 13, c0, c1);
        const auto x = [&](int64_t row, int64_t col) {
          return net.get(task.x.id, {at[0], row, col, at[3]});
        };
        return (1 - r) * ((1 - c) * x(r0, c0) + c * x(r0, c1)) +
               r * ((1 - c) * x(r1, c0) + c * x(r1, c1));
      },
      1e-5);
}

TEST(ResizeTask, NearestMovesElementsOfAnyType) {
  Net net(39);
  task::ResizeTask task;
  task.coordinates = task::ResizeTask::Coordinates::kAsymmetric;
  task.nearest = task::ResizeTask::Nearest::kFloor;
  task.scale = {2, 2, 1};
  task.x.id = net.add(DType::kU8, {1, 4, 5, 3});
  task.y.id = net.add(DType::kU8, {1, 8, 10, 3}, Lie::kTurned);
  net.add_task(task);
  expect_result(
      net, task.y.id,
      [&](const Dims& at) { return net.get(task.x.id, {0, at[1] / 2, at[2] / 2, at[3]}); }, 0);
}

TEST(ResizeTask, CubicKeepsAConstantImage) {
  for (const int excluded : {0, 1}) {
    Net net(40);
    task::ResizeTask task;
    task.kind = task::ResizeTask::Kind::kCubic;
    task.scale = {1.5F, 1, 1};
    task.exclude_outside = static_cast<uint8_t>(excluded);
    task.x.id = net.add(DType::kF32, {1, 6, 4});
    for_each_coordinate({1, 6, 4}, [&](const Dims& at) { net.set(task.x.id, at, double(at[2])); });
    task.y.id = net.add(DType::kF32, {1, 9, 4});
    net.add_task(task);
    expect_result(net, task.y.id, [&](const Dims& at) { return double(at[2]); }, 1e-5);
  }
}

}  // namespace
}  // namespace tw::cpu
