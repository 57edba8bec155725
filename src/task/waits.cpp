// Derives waits and signals. A record depends on every earlier record whose elements it overlaps
// when one of both writes, and on every user of memory that it reuses. Records of an op are
// signalled in groups, one counter a group; a record waits for the groups that queue order and
// other waits do not already imply. An op starts with a group for each of its records and falls
// back to four and then one where some reader would have to wait for more than four counters; what
// is left over becomes join tasks.
#include <algorithm>
#include <array>

#include "task/happens_before.h"
#include "task/storage_map.h"

namespace tw::task {
namespace {

using Index = uint32_t;

/// For each record, what it must come after: of each queue, the latest such record. Those before it
/// in the queue are over with it.
class Dependencies {
 public:
  explicit Dependencies(const Program& program)
      : program_(program),
        positions_(make_clocks(program)),
        places_(program.records.size() * positions_.n_queues(), 0) {}

  void add(Index before, Index after) {
    const Position at = positions_.position(before);
    uint32_t& place = places_[after * positions_.n_queues() + at.queue];
    place = std::max(place, at.place + 1);
  }
  /// The records that `r` must come after, latest first.
  void list(Index r, std::vector<Index>& into) const {
    into.clear();
    const uint32_t* places = &places_[r * positions_.n_queues()];
    for (size_t q = 0; q < positions_.n_queues(); ++q)
      if (places[q] > 0) into.push_back(program_.queues[q].first + places[q] - 1);
    std::sort(into.begin(), into.end(),
              [&](Index a, Index b) { return program_.records[a].seq > program_.records[b].seq; });
  }

 private:
  const Program& program_;
  Clocks positions_;
  std::vector<uint32_t> places_;  // by record, then queue: the place behind the latest; 0: none
};

/// A task that writes memory comes after all users of what was there before.
void add_reuse(const Program& program, const StorageMap& map, Dependencies& deps) {
  const auto seq = [&](const Touch& touch) { return program.records[touch.record].seq; };
  std::vector<std::span<const Touch>> users(program.slots.size());
  for (const Index root : map.roots()) users[root] = map.touches(root);
  for (auto [x, y] : map.overlapping()) {
    if (seq(users[x].front()) > seq(users[y].front())) std::swap(x, y);
    for (const Touch& user : users[y]) {
      if (!user.writes()) continue;
      for (const Touch& former : users[x])
        if (seq(former) < seq(user)) deps.add(former.record, user.record);
    }
  }
}

Dependencies find_dependencies(const Program& program, const std::vector<Index>& order) {
  std::vector<int64_t> tiles;
  tiles.reserve(program.records.size());
  for (const Record& record : program.records) tiles.push_back(n_tiles(record, program.slots));
  const StorageMap map(program, order, tiles);
  Dependencies deps(program);
  for (const Index root : map.roots()) {
    const std::span<const Touch> touches = map.touches(root);
    for (size_t later = 1; later < touches.size(); ++later)
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const Touch& a = touches[earlier];
        const Touch& b = touches[later];
        if ((a.writes() || b.writes()) && a.record != b.record && overlaps(a.region, b.region))
          deps.add(a.record, b.record);
      }
  }
  add_reuse(program, map, deps);
  return deps;
}

/// How the records of each op are grouped. Ops are counted in seq order here: Record::op is a name
/// that may be any number.
struct Groups {
  std::vector<Index> of_record;
  std::vector<Index> first;  // where a group's members begin in seq order; one more at the end
  std::vector<Index> op;     // which op a group is of
  size_t count() const { return first.size() - 1; }
  Index size(Index group) const { return first[group + 1] - first[group]; }
};

constexpr std::array<uint32_t, 3> kGroupLimits = {0xffffffffU, 4, 1};  // groups an op, by level

Groups make_groups(const Program& program, const std::vector<Index>& order,
                   const std::vector<uint8_t>& level_of_op) {
  Groups groups;
  groups.of_record.resize(program.records.size());
  Index op = 0;
  for (size_t begin = 0; begin < order.size(); ++op) {
    size_t end = begin;
    while (end < order.size() && program.records[order[end]].op == program.records[order[begin]].op)
      ++end;
    const size_t n_groups = std::min<size_t>(end - begin, kGroupLimits[level_of_op[op]]);
    const size_t before = groups.first.size();
    for (size_t i = begin; i < end; ++i) {
      const size_t group = before + (i - begin) * n_groups / (end - begin);
      if (group == groups.first.size()) {
        groups.first.push_back(static_cast<Index>(i));
        groups.op.push_back(op);
      }
      groups.of_record[order[i]] = static_cast<Index>(group);
    }
    begin = end;
  }
  groups.first.push_back(static_cast<Index>(order.size()));
  return groups;
}

/// By record: the groups that it waits for.
struct Waits {
  struct List {
    uint32_t first = 0, count = 0;
  };
  std::vector<List> of_record;
  std::vector<Index> groups;
  std::span<const Index> list(size_t record) const {
    return std::span(groups).subspan(of_record[record].first, of_record[record].count);
  }
};

/// The groups that each record waits for, given a grouping; clocks follow along.
Waits choose_waits(const Program& program, const std::vector<Index>& order,
                   const Dependencies& deps, const Groups& groups) {
  Clocks clocks = make_clocks(program);
  Waits waits;
  waits.of_record.resize(program.records.size());
  LazyClocks finished(groups.count(), clocks.n_queues());
  std::vector<Index> last_in_queue(clocks.n_queues(), 0xffffffffU), list;
  for (const Index r : order) {
    uint32_t* clock = clocks.clock(r);
    Index& previous = last_in_queue[clocks.position(r).queue];
    if (previous != 0xffffffffU) clocks.join_finished(clock, previous);
    previous = r;
    const auto first = static_cast<uint32_t>(waits.groups.size());
    deps.list(r, list);
    for (const Index dep : list) {
      if (clocks.ordered(dep, r)) continue;
      const Index group = groups.of_record[dep];
      waits.groups.push_back(group);
      clocks.join(clock, finished.get(group, [&](uint32_t* joined) {
        for (Index m = groups.first[group]; m < groups.first[group + 1]; ++m)
          clocks.join_finished(joined, order[m]);
      }));
    }
    waits.of_record[r] = {first, static_cast<uint32_t>(waits.groups.size()) - first};
  }
  return waits;
}

/// Raises the level of ops that give some record too many waits. False when nothing could be
/// raised.
bool coarsen(const Waits& waits, const Groups& groups, std::vector<uint8_t>& level_of_op) {
  bool changed = false;
  for (size_t r = 0; r < waits.of_record.size(); ++r) {
    const std::span<const Index> list = waits.list(r);
    if (list.size() <= kMaxWaits) continue;
    std::vector<Index> ops;
    for (const Index group : list) ops.push_back(groups.op[group]);
    std::sort(ops.begin(), ops.end());
    for (size_t i = 0; i < ops.size(); ++i) {
      const bool repeated =
          (i > 0 && ops[i] == ops[i - 1]) || (i + 1 < ops.size() && ops[i] == ops[i + 1]);
      const bool first = i == 0 || ops[i] != ops[i - 1];
      if (!repeated || !first || level_of_op[ops[i]] + 1U >= kGroupLimits.size()) continue;
      ++level_of_op[ops[i]];
      changed = true;
    }
  }
  return changed;
}

/// Writes waits and signals into the records; a record with more than four waits gets join tasks in
/// front of it.
void write_waits(Program& program, const Waits& waits, const Groups& groups) {
  std::vector<uint32_t> counter_of(groups.count(), kNoCounter);
  program.n_counters = 0;
  for (size_t r = 0; r < program.records.size(); ++r)
    for (const Index group : waits.list(r))
      if (counter_of[group] == kNoCounter) counter_of[group] = program.n_counters++;
  std::vector<Record> records;
  records.reserve(program.records.size());
  for (Queue& queue : program.queues) {
    const auto first = static_cast<uint32_t>(records.size());
    for (uint32_t i = queue.first; i < queue.first + queue.count; ++i) {
      Record record = program.records[i];
      record.signal = counter_of[groups.of_record[i]];
      const std::span<const Index> list = waits.list(i);
      size_t at = 0;
      const auto fill = [&](Record& into) {
        into.n_waits = 0;
        for (; at < list.size() && into.n_waits < kMaxWaits; ++at)
          into.waits[into.n_waits++] = {counter_of[list[at]],
                                        static_cast<int32_t>(groups.size(list[at]))};
      };
      while (list.size() - at > kMaxWaits) {
        Record join = encode(JoinTask{});
        join.seq = record.seq;
        join.op = record.op;
        join.tile_end = 1;
        fill(join);
        records.push_back(join);
      }
      fill(record);
      records.push_back(record);
    }
    queue.first = first;
    queue.count = static_cast<uint32_t>(records.size()) - first;
  }
  program.records = std::move(records);
}

/// Joins share the seq of the record they stand before; a stable sort keeps them in front of it.
void renumber(Program& program) {
  std::vector<Index> order(program.records.size());
  for (Index i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return program.records[a].seq < program.records[b].seq;
  });
  for (Index i = 0; i < order.size(); ++i) program.records[order[i]].seq = i;
}

}  // namespace

Result<void> derive_waits(Program& program) {
  for (Record& record : program.records) {
    record.n_waits = 0;
    record.signal = kNoCounter;
    for (Wait& wait : record.waits) wait = {};
  }
  const std::vector<Index> order = seq_order(program);
  const Dependencies deps = find_dependencies(program, order);
  std::vector<uint8_t> level_of_op(order.size(), 0);
  for (;;) {
    const Groups groups = make_groups(program, order, level_of_op);
    const auto waits = choose_waits(program, order, deps, groups);
    if (coarsen(waits, groups, level_of_op)) continue;
    const size_t n_records = program.records.size();
    write_waits(program, waits, groups);
    if (program.records.size() > n_records) renumber(program);
    return {};
  }
}

}  // namespace tw::task
