// happens_before.h: which tasks are over, on every legal interleaving, when a given task starts. A
// clock holds for each queue how many of its tasks are surely done; clocks follow from queue order
// and from waits.
#pragma once

#include <vector>

#include "task/program.h"

namespace tw::task {

/// Where a record stands: its queue and its place in it.
struct Position {
  uint32_t queue = 0;
  uint32_t place = 0;
};

class Clocks {
 public:
  Clocks(size_t n_records, size_t n_queues)
      : n_queues_(n_queues), clocks_(n_records * n_queues, 0), positions_(n_records) {}

  void set_position(size_t record, Position position) { positions_[record] = position; }
  Position position(size_t record) const { return positions_[record]; }
  uint32_t* clock(size_t record) { return &clocks_[record * n_queues_]; }
  const uint32_t* clock(size_t record) const { return &clocks_[record * n_queues_]; }
  size_t n_queues() const { return n_queues_; }

  /// `before` is over when `after` starts.
  bool ordered(size_t before, size_t after) const {
    return clock(after)[positions_[before].queue] > positions_[before].place;
  }
  /// Raises `into` to what `from` knows.
  void join(uint32_t* into, const uint32_t* from) const {
    for (size_t q = 0; q < n_queues_; ++q) into[q] = into[q] > from[q] ? into[q] : from[q];
  }
  /// What is known when `source` is over becomes known to `into`.
  void join_finished(uint32_t* into, size_t source) const {
    join(into, clock(source));
    const Position at = positions_[source];
    if (into[at.queue] < at.place + 1) into[at.queue] = at.place + 1;
  }

 private:
  size_t n_queues_;
  std::vector<uint32_t> clocks_;
  std::vector<Position> positions_;
};

/// A clock a key, made when it is first asked for: what is known when all tasks of a group are
/// over.
class LazyClocks {
 public:
  LazyClocks(size_t n_keys, size_t n_queues) : n_queues_(n_queues), row_of_(n_keys, kNone) {}

  /// The clock of `key`; `fill(clock)` raises a new one from zeros. Valid until the next call.
  template <class Fill>
  const uint32_t* get(size_t key, Fill&& fill) {
    uint32_t& row = row_of_[key];
    if (row != kNone) return &clocks_[row * n_queues_];
    row = static_cast<uint32_t>(clocks_.size() / n_queues_);
    clocks_.resize(clocks_.size() + n_queues_, 0);
    fill(&clocks_[row * n_queues_]);
    return &clocks_[row * n_queues_];
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffU;
  size_t n_queues_;
  std::vector<uint32_t> row_of_, clocks_;
};

/// Record indices by ascending seq.
std::vector<uint32_t> seq_order(const Program& program);
/// Positions from the queue table; clocks are left empty.
Clocks make_clocks(const Program& program);
/// The clocks that queue order and waits prove. Fails, naming the task, on a wait for a counter
/// that is not there or that too few records of lower seq signal. The queue table and seq must be
/// sound. `order` lists record indices by seq.
Result<Clocks> known_order(const Program& program, const std::vector<uint32_t>& order);
/// "task 12 (gemm of 'layers.0/q', tiles 0 to 4)".
std::string describe_task(const Program& program, uint32_t record);

}  // namespace tw::task
