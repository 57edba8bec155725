// Programs with tasks on both sides: copies stand where operands change sides, and the values are
// those of the program on one side.
#include "planner/place.h"

#include <gtest/gtest.h>

namespace tw::planner {
namespace {

using task::SlotId;

/// x -> relu -> a -> relu -> b -> relu -> y, each of [4, 6].
class Chain {
 public:
  Chain() {
    const SlotId x = add(task::Space::kInput), a = add(task::Space::kArena),
                 b = add(task::Space::kArena), y = add(task::Space::kOutput);
    draft.slots[0].info.flags = task::SlotInfo::kImmutable;
    for (const auto& [from, to] : {std::pair(x, a), std::pair(a, b), std::pair(b, y)}) {
      task::CopyTask copy;
      copy.x.id = from;
      copy.y.id = to;
      draft.tasks.push_back({task::encode(copy), "step"});
    }
    draft.inputs = {x};
    draft.outputs = {y};
  }

  task::Draft draft;

 private:
  SlotId add(task::Space space) {
    const auto id = static_cast<SlotId>(draft.slots.size());
    task::Draft::Slot slot;
    slot.info.space = space;
    slot.info.root = id;
    slot.dims = {Dim(4), Dim(6)};
    slot.strides = {Dim(6), Dim(1)};
    slot.storage_bytes = Dim(96);
    draft.slots.push_back(slot);
    return id;
  }
};

size_t transfers(const task::Draft& draft) {
  size_t n = 0;
  for (const task::Draft::Task& one : draft.tasks) {
    const auto copy = task::decode<task::CopyTask>(one.record);
    n += draft.slots[task::index(copy.x.id)].info.place !=
                 draft.slots[task::index(copy.y.id)].info.place
             ? 1
             : 0;
  }
  return n;
}

TEST(PlaceTasks, AProgramOnTheDeviceNeedsNoCopies) {
  Chain chain;
  const auto placed = place_tasks(chain.draft, {kDevice, kDevice, kDevice});
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_EQ(placed.value().tasks.size(), 3U);
  EXPECT_EQ(transfers(placed.value()), 0U);
  for (const task::Draft::Slot& slot : placed.value().slots) EXPECT_EQ(slot.info.place, kDevice);
}

TEST(PlaceTasks, ATaskOfTheHostBetweenDeviceTasksGetsACopyOnEachSide) {
  Chain chain;
  const auto placed = place_tasks(chain.draft, {kDevice, kHost, kDevice});
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_EQ(transfers(placed.value()), 2U);
  EXPECT_EQ(placed.value().tasks.size(), 5U);
  const auto program = task::build_program(placed.value(), {}, {}, {.queues = 1});
  EXPECT_TRUE(program.ok()) << program.error().message;
}

TEST(PlaceTasks, AProgramOfTheHostStaysWhereItIs) {
  Chain chain;
  const auto placed = place_tasks(chain.draft, {kHost, kHost, kHost});
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_EQ(transfers(placed.value()), 0U);
  EXPECT_EQ(placed.value().slots[0].info.place, kHost);
}

TEST(PlaceTasks, AWindowWithGapsIsMadeDenseOnItsOwnSideFirst) {
  Chain chain;
  const auto view = static_cast<SlotId>(chain.draft.slots.size());
  task::Draft::Slot window = chain.draft.slots[1];
  window.dims = {Dim(4), Dim(2)};
  window.info.root = SlotId{1};
  chain.draft.slots.push_back(window);
  task::Draft::Slot y = chain.draft.slots[3];
  chain.draft.slots[2].dims = y.dims = {Dim(4), Dim(2)};
  chain.draft.slots[2].strides = y.strides = {Dim(2), Dim(1)};
  chain.draft.slots[2].storage_bytes = y.storage_bytes = Dim(32);
  chain.draft.slots[3] = y;
  chain.draft.tasks[1].record.operands[0] = view;
  const auto placed = place_tasks(chain.draft, {kDevice, kHost, kHost});
  ASSERT_TRUE(placed.ok()) << placed.error().message;
  EXPECT_EQ(placed.value().tasks.size(), 5U);
  EXPECT_EQ(transfers(placed.value()), 1U);
  const auto program = task::build_program(placed.value(), {}, {}, {.queues = 1});
  EXPECT_TRUE(program.ok()) << program.error().message;
}

TEST(PlaceTasks, AWeightPackedForTheDeviceIsRefusedOnTheHost) {
  Chain chain;
  chain.draft.slots[0].info.space = task::Space::kWeight;
  chain.draft.slots[0].info.layout = task::Layout::kPanels;
  const auto placed = place_tasks(chain.draft, {kHost, kDevice, kDevice});
  ASSERT_FALSE(placed.ok());
  EXPECT_EQ(placed.error().message,
            "step: the task runs on the host but its weight is packed for the device");
}

}  // namespace
}  // namespace tw::planner
