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

/// For each record, the earlier records it must come after, latest first, without repeats.
std::vector<std::vector<Index>> find_dependencies(const Program& program,
                                                  const std::vector<Index>& order) {
  const StorageMap map(program, order);
  std::vector<std::vector<Index>> deps(program.records.size());
  for (const Index root : map.roots()) {
    const auto& touches = map.touches(root);
    for (size_t later = 1; later < touches.size(); ++later)
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const Touch& a = touches[earlier];
        const Touch& b = touches[later];
        if (a.record != b.record && (a.writes() || b.writes()) && overlaps(a.region, b.region))
          deps[b.record].push_back(a.record);
      }
  }
  const auto seq = [&](Index r) { return program.records[r].seq; };
  for (auto [x, y] : map.overlapping()) {
    if (seq(map.touches(x).front().record) > seq(map.touches(y).front().record)) std::swap(x, y);
    for (const Touch& user : map.touches(y))
      if (user.writes())
        for (const Touch& former : map.touches(x))
          if (seq(former.record) < seq(user.record)) deps[user.record].push_back(former.record);
  }
  for (auto& list : deps) {
    std::sort(list.begin(), list.end(), [&](Index a, Index b) { return seq(a) > seq(b); });
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return deps;
}

/// How the records of each op are grouped: record -> group, and each group's members.
struct Groups {
  std::vector<Index> of_record;
  std::vector<std::vector<Index>> members;
};

constexpr std::array<uint32_t, 3> kGroupLimits = {0xffffffffU, 4, 1};  // groups an op, by level

Groups make_groups(const Program& program, const std::vector<Index>& order,
                   const std::vector<uint8_t>& level_of_op) {
  Groups groups;
  groups.of_record.resize(program.records.size());
  for (size_t begin = 0; begin < order.size();) {
    const uint32_t op = program.records[order[begin]].op;
    size_t end = begin;
    while (end < order.size() && program.records[order[end]].op == op) ++end;
    const size_t n_groups = std::min<size_t>(end - begin, kGroupLimits[level_of_op[op]]);
    const size_t first = groups.members.size();
    groups.members.resize(first + n_groups);
    for (size_t i = begin; i < end; ++i) {
      const size_t group = first + (i - begin) * n_groups / (end - begin);
      groups.of_record[order[i]] = static_cast<Index>(group);
      groups.members[group].push_back(order[i]);
    }
    begin = end;
  }
  return groups;
}

/// The groups that each record waits for, given a grouping; clocks follow along.
std::vector<std::vector<Index>> choose_waits(const Program& program,
                                             const std::vector<Index>& order,
                                             const std::vector<std::vector<Index>>& deps,
                                             const Groups& groups) {
  Clocks clocks = make_clocks(program);
  std::vector<std::vector<Index>> waits(program.records.size());
  std::vector<std::vector<uint32_t>> finished(
      groups.members.size());  // clock of a whole group, made when first needed
  std::vector<Index> last_in_queue(clocks.n_queues(), 0xffffffffU);
  for (const Index r : order) {
    uint32_t* clock = clocks.clock(r);
    Index& previous = last_in_queue[clocks.position(r).queue];
    if (previous != 0xffffffffU) clocks.join_finished(clock, previous);
    previous = r;
    for (const Index dep : deps[r]) {
      if (clocks.ordered(dep, r)) continue;
      const Index group = groups.of_record[dep];
      waits[r].push_back(group);
      auto& joined = finished[group];
      if (joined.empty()) {
        joined.assign(clocks.n_queues(), 0);
        for (const Index member : groups.members[group])
          clocks.join_finished(joined.data(), member);
      }
      for (size_t q = 0; q < joined.size(); ++q) clock[q] = std::max(clock[q], joined[q]);
    }
  }
  return waits;
}

/// Raises the level of ops that give some record too many waits. False when nothing could be
/// raised.
bool coarsen(const Program& program, const std::vector<std::vector<Index>>& waits,
             const Groups& groups, std::vector<uint8_t>& level_of_op) {
  bool changed = false;
  for (const auto& list : waits) {
    if (list.size() <= kMaxWaits) continue;
    std::vector<uint32_t> ops;
    for (const Index group : list) ops.push_back(program.records[groups.members[group].front()].op);
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
void write_waits(Program& program, const std::vector<std::vector<Index>>& waits,
                 const Groups& groups) {
  std::vector<uint32_t> counter_of(groups.members.size(), kNoCounter);
  program.n_counters = 0;
  for (const auto& list : waits)
    for (const Index group : list)
      if (counter_of[group] == kNoCounter) counter_of[group] = program.n_counters++;
  std::vector<Record> records;
  records.reserve(program.records.size());
  for (Queue& queue : program.queues) {
    const auto first = static_cast<uint32_t>(records.size());
    for (uint32_t i = queue.first; i < queue.first + queue.count; ++i) {
      Record record = program.records[i];
      record.signal = counter_of[groups.of_record[i]];
      const auto& list = waits[i];
      size_t at = 0;
      const auto fill = [&](Record& into) {
        into.n_waits = 0;
        for (; at < list.size() && into.n_waits < kMaxWaits; ++at)
          into.waits[into.n_waits++] = {counter_of[list[at]],
                                        static_cast<int32_t>(groups.members[list[at]].size())};
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
  uint32_t n_ops = 0;
  for (Record& record : program.records) {
    record.n_waits = 0;
    record.signal = kNoCounter;
    for (Wait& wait : record.waits) wait = {};
    n_ops = std::max(n_ops, record.op + 1);
  }
  const std::vector<Index> order = seq_order(program);
  const auto deps = find_dependencies(program, order);
  std::vector<uint8_t> level_of_op(n_ops, 0);
  for (;;) {
    const Groups groups = make_groups(program, order, level_of_op);
    const auto waits = choose_waits(program, order, deps, groups);
    if (coarsen(program, waits, groups, level_of_op)) continue;
    write_waits(program, waits, groups);
    renumber(program);
    return {};
  }
}

}  // namespace tw::task
