// net.h: programs of a few tasks made by hand, run in every way the executor has, compared with
// loops that say what was meant.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "backends/cpu/executor.h"
#include "backends/cpu/lanes.h"

namespace tw::cpu {

/// How a test slot lies in memory: with gaps between rows, or its dims in turned order.
enum class Lie : uint8_t {
  kDense,
  kGaps,
  kTurned
};

/// r[dst] = op(r[a], r[b], r[c]) on a lane.
task::PointInstr instr(task::PointOp op, task::Lane lane, int dst, int a = 0, int b = 0, int c = 0);

class Net {
 public:
  explicit Net(uint32_t seed) : random_(seed) {}

  /// A slot with storage of its own, filled with values in [-limit, limit].
  task::SlotId add(DType dtype, const Dims& dims, Lie lie = Lie::kDense, double limit = 1);
  task::SlotId add_immutable(DType dtype, const Dims& dims) {
    const task::SlotId id = add(dtype, dims);
    slot(id).flags = task::SlotInfo::kImmutable;
    slot(id).space = task::Space::kWeight;
    return id;
  }
  /// A slot with exactly these bytes in panel layout.
  task::SlotId add_panels(const Dims& dims, const std::vector<std::byte>& bytes);
  task::SideOffset add_program(int n_inputs, std::vector<uint8_t> outputs,
                               std::vector<task::PointInstr> code);
  template <class Task>
  void add_task(const Task& task) {
    task::Record record = task::encode(task);
    record.seq = static_cast<uint32_t>(program.records.size());
    record.tile_end = static_cast<uint32_t>(task::n_tiles(record, program.slots));
    program.records.push_back(record);
    program.queues = {task::Queue{.first = 0, .count = record.seq + 1}};
  }

  task::SlotInfo& slot(task::SlotId id) { return program.slots[task::index(id)]; }
  const task::SlotInfo& slot(task::SlotId id) const { return program.slots[task::index(id)]; }
  std::byte* address(task::SlotId id, const Dims& at);
  double get(task::SlotId id, const Dims& at);
  int64_t get_int(task::SlotId id, const Dims& at);
  void set(task::SlotId id, const Dims& at, double value);
  /// The element that a result element at `at` reads of an operand that repeats.
  double get_broadcast(task::SlotId id, const Dims& at);
  std::vector<std::byte*> addresses();
  /// Runs on `n_threads` threads of `isa`; the result's sentence is empty when it is good.
  std::string run(const RunOptions& options, Isa isa = best_isa(), int n_threads = 1);

  task::Program program;
  std::vector<std::vector<std::byte>> memory;  // by slot
  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
};

/// Calls visit for every coordinate of `dims`.
void for_each_coordinate(const Dims& dims, const std::function<void(const Dims&)>& visit);

/// The value a result element should have, and how far off it may be.
using Expected = std::function<double(const Dims&)>;

/// Runs the net on every instruction set of this machine: the values of `result` are within
/// `tolerance` (times the larger of 1 and the magnitude) of `expected`, and tile by tile, on three
/// threads, in random order and in checked mode the bits of all memory are the same.
void expect_result(Net& net, task::SlotId result, const Expected& expected, double tolerance);

}  // namespace tw::cpu
