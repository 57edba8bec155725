#include "task/happens_before.h"

#include <algorithm>
#include <numeric>

namespace tw::task {

std::vector<uint32_t> seq_order(const Program& program) {
  // Sound programs number their records 0, 1, 2 ...; what is not yet proved may be numbered anyhow.
  constexpr uint32_t kNone = 0xffffffffU;
  std::vector<uint32_t> order(program.records.size(), kNone);
  bool numbered = true;
  for (uint32_t r = 0; r < order.size() && numbered; ++r) {
    const uint32_t seq = program.records[r].seq;
    numbered = seq < order.size() && order[seq] == kNone;
    if (numbered) order[seq] = r;
  }
  if (numbered) return order;
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return program.records[a].seq < program.records[b].seq;
  });
  return order;
}

Clocks make_clocks(const Program& program) {
  Clocks clocks(program.records.size(), std::max<size_t>(1, program.queues.size()));
  for (size_t q = 0; q < program.queues.size(); ++q)
    for (uint32_t i = 0; i < program.queues[q].count; ++i)
      clocks.set_position(program.queues[q].first + i, {static_cast<uint32_t>(q), i});
  return clocks;
}

std::string describe_task(const Program& program, uint32_t record) {
  const Record& r = program.records[record];
  const std::string op =
      r.op < program.op_names.size() ? cat(" of '", program.op_names[r.op], "'") : "";
  return cat("task ", r.seq, " (", kind_name(r.kind), op, ", tiles ", r.tile_begin, " to ",
             r.tile_end, ")");
}

namespace {

class OrderBuilder {
 public:
  OrderBuilder(const Program& program, const std::vector<uint32_t>& order)
      : program_(program),
        order_(order),
        clocks_(make_clocks(program)),
        first_sender_(size_t{program.n_counters} + 1, 0),
        finished_(program.n_counters, clocks_.n_queues()) {}

  Result<Clocks> run() {
    TRY(find_senders());
    std::vector<uint32_t> last_in_queue(clocks_.n_queues(), kNone);
    for (const uint32_t r : order_) {
      uint32_t& previous = last_in_queue[clocks_.position(r).queue];
      if (previous != kNone) clocks_.join_finished(clocks_.clock(r), previous);
      previous = r;
      const Record& record = program_.records[r];
      if (record.n_waits > kMaxWaits)
        return error(Code::kCorrupt, describe_task(program_, r), ": ", record.n_waits,
                     " waits, at most ", kMaxWaits);
      for (size_t w = 0; w < record.n_waits; ++w) {
        Result<void> joined = join_wait(r, record.waits[w]);
        if (!joined.ok()) return std::move(joined).in(describe_task(program_, r)).error();
      }
    }
    return std::move(clocks_);
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffU;

  Result<void> find_senders() {
    for (const uint32_t r : order_) {
      const uint32_t counter = program_.records[r].signal;
      if (counter == kNoCounter) continue;
      if (counter >= program_.n_counters)
        return error(Code::kCorrupt, describe_task(program_, r), ": signals counter ", counter,
                     " of ", program_.n_counters);
      ++first_sender_[counter + 1];
    }
    for (size_t c = 1; c < first_sender_.size(); ++c) first_sender_[c] += first_sender_[c - 1];
    senders_.resize(first_sender_.back());
    std::vector<uint32_t> next = first_sender_;
    for (const uint32_t r : order_)
      if (program_.records[r].signal != kNoCounter)
        senders_[next[program_.records[r].signal]++] = r;
    return {};
  }

  /// The records that signal a counter, by seq.
  std::span<const uint32_t> senders_of(uint32_t counter) const {
    return std::span(senders_).subspan(first_sender_[counter],
                                       first_sender_[counter + 1] - first_sender_[counter]);
  }

  Result<void> join_wait(uint32_t r, const Wait& wait) {
    if (wait.counter >= program_.n_counters)
      return error(Code::kCorrupt, "waits for counter ", wait.counter, " of ", program_.n_counters);
    const std::span<const uint32_t> senders = senders_of(wait.counter);
    const uint32_t seq = program_.records[r].seq;
    const auto lower =
        std::partition_point(senders.begin(), senders.end(),
                             [&](uint32_t s) { return program_.records[s].seq < seq; }) -
        senders.begin();
    if (wait.target < 1 || wait.target > lower)
      return error(Code::kCorrupt, "waits for ", wait.target, " signals of counter ", wait.counter,
                   ", only ", lower, " come before it");
    uint32_t* clock = clocks_.clock(r);
    if (static_cast<size_t>(wait.target) < senders.size()) {
      for (const uint32_t s : senders)
        if (program_.records[s].seq < seq && surely_among(s, senders, wait.target))
          clocks_.join_finished(clock, s);
      return {};
    }
    // Many records wait for the same counter: its signals are joined once.
    clocks_.join(clock, finished_.get(wait.counter, [&](uint32_t* joined) {
      for (const uint32_t s : senders) clocks_.join_finished(joined, s);
    }));
    return {};
  }

  /// A signal is sure to be among any `target` of them when fewer than `target` remain once it and
  /// all that need it are missing.
  bool surely_among(uint32_t signaler, std::span<const uint32_t> senders, int32_t target) const {
    int32_t others = 0;
    for (const uint32_t other : senders)
      if (other != signaler && !clocks_.ordered(signaler, other)) ++others;
    return others < target;
  }

  const Program& program_;
  const std::vector<uint32_t>& order_;
  Clocks clocks_;
  std::vector<uint32_t> senders_;       // by counter, then by seq
  std::vector<uint32_t> first_sender_;  // by counter; one more at the end
  LazyClocks finished_;                 // of all signals of a counter
};

}  // namespace

Result<Clocks> known_order(const Program& program, const std::vector<uint32_t>& order) {
  return OrderBuilder(program, order).run();
}

}  // namespace tw::task
