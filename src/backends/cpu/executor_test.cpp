// The ways of running a program, and what the checked one catches.
#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

/// Three copies, a -> b -> c and a -> d, as two queues joined by a counter.
struct Chain {
  Net net{61};
  task::SlotId a, b, c, d;

  Chain() {
    a = net.add(DType::kF32, {20, 30});
    b = net.add(DType::kF32, {20, 30});
    c = net.add(DType::kF32, {20, 30});
    d = net.add(DType::kF32, {20, 30});
    copy(a, b);
    copy(a, d);
    copy(b, c);
    std::vector<task::Record>& records = net.program.records;
    records[0].signal = 0;
    records[2].n_waits = 1;
    records[2].waits[0] = {0, 1};
    net.program.n_counters = 1;
    net.program.queues = {task::Queue{.first = 0, .count = 2}, task::Queue{.first = 2, .count = 1}};
  }
  void copy(task::SlotId from, task::SlotId to) {
    task::CopyTask task;
    task.x.id = from;
    task.y.id = to;
    net.add_task(task);
  }
  bool is_right() {
    const auto& m = net.memory;
    return m[task::index(c)] == m[task::index(a)] && m[task::index(d)] == m[task::index(a)];
  }
};

TEST(Executor, EveryOrderGivesTheSameBits) {
  for (const Order order : {Order::kSequence, Order::kQueues, Order::kRandom, Order::kChecked}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Chain chain;
      EXPECT_EQ(chain.net.run({.order = order, .seed = seed}, best_isa(), 3), "");
      EXPECT_TRUE(chain.is_right()) << static_cast<int>(order);
    }
  }
}

TEST(Executor, AWaitThatIsNeverMetNamesTheTask) {
  for (const Order order : {Order::kSequence, Order::kQueues, Order::kRandom}) {
    Chain chain;
    chain.net.program.records[2].waits[0].target = 2;
    chain.net.program.op_names = {"last"};
    EXPECT_EQ(chain.net.run({.order = order}, best_isa(), 2),
              "task 2 (copy 'last'): waits for counter 0: found 1, expected 2");
  }
}

TEST(Executor, PoisonIsSeenByATaskThatDoesNotWait) {
  Chain chain;
  chain.net.program.records[2].n_waits = 0;
  bool ever_wrong = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(chain.net.run({.order = Order::kRandom, .seed = seed}), "");
    ever_wrong = ever_wrong || !chain.is_right();
    std::fill(chain.net.memory[task::index(chain.b)].begin(),
              chain.net.memory[task::index(chain.b)].end(), std::byte{0xff});
  }
  EXPECT_TRUE(ever_wrong);
}

/// The two best of each of three rows; `index` is declared to have `n_declared` of them.
std::string run_sort_with_lie(int64_t n_declared) {
  Net net(62);
  task::SortTask task;
  task.x.id = net.add(DType::kF32, {3, 9});
  task.values.id = net.add(DType::kF32, {3, 2});
  task.index.id = net.add(DType::kI64, {3, 2}, Lie::kGaps);
  net.add_task(task);
  net.slot(task.index.id).dims[1] = n_declared;
  return net.run({.order = Order::kChecked});
}

TEST(CheckedMode, WritesAreThoseDeclared) {
  EXPECT_EQ(run_sort_with_lie(2), "");
  EXPECT_EQ(run_sort_with_lie(1),
            "task 0 (sort) tile 0: slot 2 's2': byte 8 is written, but not declared written");
  EXPECT_EQ(run_sort_with_lie(3),
            "task 0 (sort) tile 0: slot 2 's2' at [0,2] is declared written, but is not");
}

TEST(CheckedMode, ReadsAreThoseDeclared) {
  Net net(63);
  task::NormTask task;
  task.x.id = net.add(DType::kF32, {4, 8});
  task.scale.id = net.add(DType::kF32, {8});
  task.y.id = net.add(DType::kF32, {4, 8});
  net.add_task(task);
  EXPECT_EQ(net.run({.order = Order::kChecked}), "");
  // The task now declares half of the scale, and goes on to read all of it.
  net.slot(task.scale.id).dims[0] = 4;
  EXPECT_EQ(net.run({.order = Order::kChecked}),
            "task 0 (norm) tile 0: slot 2 's2' at [0,4] depends on elements that are not declared "
            "read");
}

TEST(Relocate, ViewsFollowTheirRootAndUnboundSlotsAreNamed) {
  Net net(64);
  const task::SlotId root = net.add(DType::kF32, {4, 8});
  task::SlotInfo view = net.slot(root);
  view.dims[0] = 2;
  view.offset_bytes = 64;
  net.program.slots.push_back(view);
  net.program.slot_names.push_back("tail");
  std::vector<std::byte> memory(128);
  const BoundSlot bound[] = {{root, memory.data()}};
  const auto table = relocate(net.program, {.arena = nullptr, .weights = nullptr, .bound = bound});
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table.value()[1], memory.data() + 64);
  const auto missing = relocate(net.program, {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "slot 0 s0 of space state is not bound to memory");
}

}  // namespace
}  // namespace tw::cpu
