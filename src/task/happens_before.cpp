#include "task/happens_before.h"

#include <algorithm>
#include <numeric>

namespace tw::task {

std::vector<uint32_t> seq_order(const Program& program) {
  std::vector<uint32_t> order(program.records.size());
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
        signalers_(program.n_counters),
        finished_(program.n_counters) {}

  Result<Clocks> run() {
    for (const uint32_t r : order_) {
      const uint32_t counter = program_.records[r].signal;
      if (counter == kNoCounter) continue;
      if (counter >= program_.n_counters)
        return error(Code::kCorrupt, describe_task(program_, r), ": signals counter ", counter,
                     " of ", program_.n_counters);
      signalers_[counter].push_back(r);
    }
    std::vector<uint32_t> last_in_queue(clocks_.n_queues(), kNone);
    for (const uint32_t r : order_) {
      uint32_t& previous = last_in_queue[clocks_.position(r).queue];
      if (previous != kNone) clocks_.join_finished(clocks_.clock(r), previous);
      previous = r;
      const Record& record = program_.records[r];
      if (record.n_waits > kMaxWaits)
        return error(Code::kCorrupt, describe_task(program_, r), ": ", record.n_waits,
                     " waits, at most ", kMaxWaits);
      for (size_t w = 0; w < record.n_waits; ++w)
        TRY(join_wait(r, record.waits[w]).in(describe_task(program_, r)));
    }
    return std::move(clocks_);
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffU;

  Result<void> join_wait(uint32_t r, const Wait& wait) {
    if (wait.counter >= program_.n_counters)
      return error(Code::kCorrupt, "waits for counter ", wait.counter, " of ", program_.n_counters);
    const std::vector<uint32_t>& senders = signalers_[wait.counter];
    const uint32_t seq = program_.records[r].seq;
    const auto lower = std::count_if(senders.begin(), senders.end(),
                                     [&](uint32_t s) { return program_.records[s].seq < seq; });
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
    std::vector<uint32_t>& joined =
        finished_[wait.counter];  // many records wait for the same counter: joined once
    if (joined.empty()) {
      joined.assign(clocks_.n_queues(), 0);
      for (const uint32_t s : senders) clocks_.join_finished(joined.data(), s);
    }
    for (size_t q = 0; q < joined.size(); ++q) clock[q] = std::max(clock[q], joined[q]);
    return {};
  }

  /// A signal is sure to be among any `target` of them when fewer than `target` remain once it and
  /// all that need it are missing.
  bool surely_among(uint32_t signaler, const std::vector<uint32_t>& senders, int32_t target) const {
    int32_t others = 0;
    for (const uint32_t other : senders)
      if (other != signaler && !clocks_.ordered(signaler, other)) ++others;
    return others < target;
  }

  const Program& program_;
  const std::vector<uint32_t>& order_;
  Clocks clocks_;
  std::vector<std::vector<uint32_t>> signalers_;
  std::vector<std::vector<uint32_t>>
      finished_;  // clock of all signals of a counter; empty until asked for
};

}  // namespace

Result<Clocks> known_order(const Program& program, const std::vector<uint32_t>& order) {
  return OrderBuilder(program, order).run();
}

}  // namespace tw::task
