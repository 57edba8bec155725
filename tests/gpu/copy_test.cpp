// copy_test.cpp: moves between windows: along rows, with gaps, repeating, turned.
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;

constexpr DType kOneOfEachSize[] = {DType::kU8, DType::kF16, DType::kF32, DType::kI64};

/// A view of `root` with these dims, strides and first element.
task::SlotId add_view(Net& net, task::SlotId root, const Dims& dims, const Dims& strides,
                      int64_t first = 0) {
  task::SlotInfo info = net.slot(root);
  info.flags = task::SlotInfo::kView;
  info.root = root;
  info.rank = static_cast<uint8_t>(dims.size());
  info.offset_bytes = first * size_bytes(info.dtype);
  for (size_t d = 0; d < dims.size(); ++d) {
    info.dims[d] = dims[d];
    info.strides[d] = strides[d];
  }
  net.program.slots.push_back(info);
  net.program.slot_names.push_back("view");
  net.memory.emplace_back();
  return static_cast<task::SlotId>(net.program.slots.size() - 1);
}

void expect_copy(Net& net, task::SlotId from, task::SlotId to) {
  task::CopyTask task;
  task.x.id = from;
  task.y.id = to;
  net.add_task(task);
  expect_same_on_device(net, net.slot(to).root, 0);
}

/// The result is dense and has x's dims in the order of `turn`.
void expect_turned(DType dtype, const Dims& dims, const std::vector<size_t>& turn) {
  SCOPED_TRACE(cat(join(dims, "x"), " by ", join(turn, ","), " ", dtype));
  Net net(3);
  const task::SlotId x = net.add(dtype, dims);
  Dims turned, strides;
  for (const size_t d : turn) {
    turned.push_back(dims[d]);
    strides.push_back(net.slot(x).strides[d]);
  }
  const task::SlotId y = net.add(dtype, turned);
  expect_copy(net, add_view(net, x, turned, strides), y);
}

TEST(CopyOnDevice, EqualLayoutsMoveAsOneRow) {
  for (const DType dtype : kOneOfEachSize) {
    for (const Dims& dims :
         {Dims{1000}, Dims{3, 7}, Dims{}, Dims{1, 1}, Dims{0, 5}, Dims{16, 16, 16}}) {
      SCOPED_TRACE(cat(join(dims, "x"), " ", dtype));
      Net net(1);
      const task::SlotId x = net.add(dtype, dims);
      expect_copy(net, x, net.add(dtype, dims));
    }
  }
}

TEST(CopyOnDevice, RowsMoveIntoWindows) {
  for (const DType dtype : kOneOfEachSize) {
    for (const int64_t cols : {int64_t{1}, int64_t{3}, int64_t{24}, int64_t{64}}) {
      SCOPED_TRACE(cat(cols, " columns ", dtype));
      Net net(2);
      const task::SlotId x = net.add(dtype, {5, 6, cols}, Lie::kGaps);
      const task::SlotId y = net.add(dtype, {5, 6, 2 * cols + 8});
      expect_copy(net, x,
                  add_view(net, y, {5, 6, cols}, {6 * (2 * cols + 8), 2 * cols + 8, 1}, cols));
    }
  }
}

TEST(CopyOnDevice, StepsAndBackwardSlices) {
  for (const DType dtype : kOneOfEachSize) {
    Net net(4);
    const task::SlotId x = net.add(dtype, {8, 90});
    const task::SlotId y = net.add(dtype, {4, 30}), z = net.add(dtype, {8, 90});
    expect_copy(net, add_view(net, x, {4, 30}, {180, 3}, 91), y);
    Net back(5);
    const task::SlotId from = back.add(dtype, {8, 90});
    expect_copy(back, add_view(back, from, {8, 90}, {-90, -1}, 8 * 90 - 1),
                back.add(dtype, {8, 90}));
    (void)z;
  }
}

TEST(CopyOnDevice, ExpandRepeatsElementsAndRows) {
  for (const DType dtype : kOneOfEachSize) {
    Net net(6);
    const task::SlotId x = net.add(dtype, {7, 32});
    expect_copy(net, add_view(net, x, {3, 7, 5, 32}, {0, 32, 0, 1}), net.add(dtype, {3, 7, 5, 32}));
    Net last(7);
    const task::SlotId column = last.add(dtype, {21});
    expect_copy(last, add_view(last, column, {21, 40}, {1, 0}), last.add(dtype, {21, 40}));
  }
}

TEST(CopyOnDevice, ChannelsMoveLastAndFirst) {
  for (const DType dtype : kOneOfEachSize) {
    expect_turned(dtype, {2, 64, 12, 12}, {0, 2, 3, 1});
    expect_turned(dtype, {2, 12, 12, 64}, {0, 3, 1, 2});
    expect_turned(dtype, {1, 33, 7, 7}, {0, 2, 3, 1});
    expect_turned(dtype, {1, 3, 20, 20}, {0, 2, 3, 1});
    expect_turned(dtype, {1, 20, 20, 3}, {0, 3, 1, 2});
    expect_turned(dtype, {130, 257}, {1, 0});
    expect_turned(dtype, {8, 8}, {1, 0});
  }
}

TEST(CopyOnDevice, HeadsMoveInFrontOfRowsAndKeysTurn) {
  for (const DType dtype : kOneOfEachSize) {
    expect_turned(dtype, {2, 20, 4, 32}, {0, 2, 1, 3});
    expect_turned(dtype, {2, 4, 20, 32}, {0, 1, 3, 2});
    expect_turned(dtype, {3, 9, 5, 10, 2}, {4, 2, 0, 3, 1});
    expect_turned(dtype, {2, 3, 4, 3, 4, 2, 9}, {6, 0, 4, 2, 1, 5, 3});
    expect_turned(dtype, {2, 2, 2, 2, 2, 2, 2, 9}, {0, 7, 1, 6, 2, 5, 3, 4});
  }
}

TEST(CopyOnDevice, ATransposeMayWriteIntoAWindow) {
  for (const DType dtype : kOneOfEachSize) {
    Net net(8);
    const task::SlotId x = net.add(dtype, {40, 50}), y = net.add(dtype, {50, 99});
    expect_copy(net, add_view(net, x, {50, 40}, {1, 50}), add_view(net, y, {50, 40}, {99, 1}, 3));
  }
}

}  // namespace
}  // namespace tw::gpu
