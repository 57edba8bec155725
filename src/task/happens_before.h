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
  /// What is known when `source` is over becomes known to `into`.
  void join_finished(uint32_t* into, size_t source) const {
    const uint32_t* from = clock(source);
    for (size_t q = 0; q < n_queues_; ++q) into[q] = into[q] > from[q] ? into[q] : from[q];
    const Position at = positions_[source];
    if (into[at.queue] < at.place + 1) into[at.queue] = at.place + 1;
  }

 private:
  size_t n_queues_;
  std::vector<uint32_t> clocks_;
  std::vector<Position> positions_;
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
