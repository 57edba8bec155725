// The proof that a program computes what its tasks say on every legal interleaving. Rules, in the
// order they are checked:
//   structure   queues hold each record once and ascend in seq, seq is unique; slots lie inside
//   their storage, roots inside their
//               space; kinds, operands and fields make sense (validate); tile ranges lie inside the
//               op
//   variants    ranges of them ascend and end without a bound, and records have what theirs says
//   waits       each looks at a counter that enough records of lower seq signal, so every wait ends
//   once        no element is written twice but by in-place tasks, and each tile of an op runs once
//   order       two records that touch a common element, one writing, are ordered; so are all users
//   of storages that share bytes cover       every element read was written by records that are
//   over by then; every output is written in full; nothing but
//               in-place tasks reads a storage before its last in-place task
//   immutable   weights and inputs are never written
// Facts about order come from queue order and waits alone (Clocks); a wait on part of a counter's
// signals proves only those signals that cannot be missing.
#include <algorithm>
#include <limits>
#include <tuple>

#include "task/happens_before.h"
#include "task/storage_map.h"
#include "task/variants.h"
#include "task/verify_slots.h"

namespace tw::task {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), clocks_(0, 1) {}

  Result<void> run() {
    TRY(verify_slots(program_));
    TRY(check_queues());
    TRY(check_records());
    order_ = seq_order(program_);
    TRY(verify_variants(program_, order_));
    clocks_ = TRY(known_order(program_, order_));
    TRY(check_tiles());
    const StorageMap map(program_, order_, n_tiles_);
    for (const uint32_t root : map.roots()) TRY(check_root(map, root));
    TRY(check_reuse(map));
    return check_outputs(map);
  }

 private:
  Result<void> check_queues() const;
  Result<void> check_records();
  Result<void> check_record(const Record& record, int64_t& n_tiles) const;
  Result<void> check_tiles() const;
  Result<void> check_root(const StorageMap& map, uint32_t root) const;
  Result<void> check_reads(std::span<const Touch> touches, uint32_t root) const;
  Result<void> check_reuse(const StorageMap& map) const;
  Result<void> check_outputs(const StorageMap& map) const;

  std::string task(uint32_t record) const { return describe_task(program_, record); }
  std::string slot(size_t id) const { return describe_slot(program_, id); }

  const Program& program_;
  std::vector<int64_t> n_tiles_;  // by record: of its op
  std::vector<uint32_t> order_;
  Clocks clocks_;
};

// More than any device has; clocks take queues times tasks.
constexpr size_t kMaxQueues = 1024;
// Of one record that does a part of an op: each is looked at.
constexpr uint32_t kMaxPartTiles = 1U << 20;

Result<void> Verifier::check_queues() const {
  uint32_t next = 0;
  if (program_.queues.size() > kMaxQueues)
    return error(Code::kCorrupt, program_.queues.size(), " queues, at most ", kMaxQueues);
  for (size_t q = 0; q < program_.queues.size(); ++q) {
    const Queue& queue = program_.queues[q];
    if (queue.first != next || queue.count > program_.records.size() - next)
      return error(Code::kCorrupt, "queue ", q, " does not follow the one before it");
    for (uint32_t i = queue.first + 1; i < queue.first + queue.count; ++i)
      if (program_.records[i].seq <= program_.records[i - 1].seq)
        return error(Code::kCorrupt, "queue ", q, " does not ascend at ", task(i));
    next += queue.count;
  }
  if (next != program_.records.size())
    return error(Code::kCorrupt, "queues hold ", next, " of ", program_.records.size(), " tasks");
  std::vector<bool> seen(program_.records.size(), false);
  for (const Record& record : program_.records) {
    if (record.seq >= seen.size() || seen[record.seq])
      return error(Code::kCorrupt, "place ", record.seq,
                   " in the order is given twice or out of range");
    seen[record.seq] = true;
  }
  return {};
}

Result<void> Verifier::check_records() {
  n_tiles_.resize(program_.records.size());
  for (uint32_t i = 0; i < program_.records.size(); ++i) {
    Result<void> sound = check_record(program_.records[i], n_tiles_[i]);
    if (!sound.ok()) return std::move(sound).in(task(i));
  }
  return {};
}

Result<void> Verifier::check_record(const Record& record, int64_t& tiles) const {
  TRY(validate(record, program_.slots, program_.side));
  tiles = n_tiles(record, program_.slots);
  if (record.tile_begin > record.tile_end || record.tile_end > tiles)
    return error(Code::kCorrupt, "the op has ", tiles, " tiles");
  if (!is_whole_op(record, tiles) && record.tile_end - record.tile_begin > kMaxPartTiles)
    return error(Code::kCorrupt, "does ", record.tile_end - record.tile_begin, " tiles, at most ",
                 kMaxPartTiles);
  const std::span<const Role> roles = operand_roles(record.kind);
  for (size_t i = 0; i < roles.size(); ++i) {
    const SlotId id = record.operands[i];
    if (id == kNoSlot || roles[i].mode == Mode::kRead) continue;
    const SlotInfo& written = program_.slot(id);
    if (written.immutable() || written.space == Space::kInput || written.space == Space::kWeight)
      return error(Code::kCorrupt, "writes ", slot(index(id)), ", which may only be read");
  }
  return {};
}

Result<void> Verifier::check_tiles() const {
  // Records of one op have equal operands and payload; their ranges must add up to the op's tiles
  // without overlap.
  std::vector<uint32_t> by_op;
  by_op.reserve(order_.size());
  for (const uint32_t r : order_)
    if (program_.records[r].kind != Tasks::number_of<JoinTask>()) by_op.push_back(r);
  const auto before = [&](uint32_t a, uint32_t b) {
    const Record &x = program_.records[a], &y = program_.records[b];
    return std::tuple(x.op, x.tile_begin, x.tile_end) < std::tuple(y.op, y.tile_begin, y.tile_end);
  };
  if (!std::is_sorted(by_op.begin(), by_op.end(), before))  // whole ops come in their order
    std::stable_sort(by_op.begin(), by_op.end(), before);
  for (size_t i = 0; i < by_op.size();) {
    const uint32_t first = by_op[i];
    const Record& model = program_.records[first];
    uint32_t next = 0;
    for (; i < by_op.size() && program_.records[by_op[i]].op == model.op; ++i) {
      const Record& record = program_.records[by_op[i]];
      if (record.kind != model.kind ||
          std::memcmp(record.payload, model.payload, kPayloadBytes) != 0 ||
          std::memcmp(record.operands, model.operands, sizeof record.operands) != 0)
        return error(Code::kCorrupt, task(by_op[i]), ": differs from ", task(first),
                     ", which is of the same op");
      if (record.tile_begin != next)
        return error(Code::kCorrupt, task(first), ": tile ", next, " of the op is done ",
                     record.tile_begin < next ? "twice" : "by no task");
      next = record.tile_end;
    }
    if (next != n_tiles_[first])
      return error(Code::kCorrupt, task(first), ": tiles from ", next, " to ", n_tiles_[first],
                   " are done by no task");
  }
  return {};
}

Result<void> Verifier::check_root(const StorageMap& map, uint32_t root) const {
  const std::span<const Touch> touches = map.touches(root);
  const bool written =
      std::any_of(touches.begin(), touches.end(), [](const Touch& t) { return t.writes(); });
  if (!written) {
    const Space space = program_.slots[root].space;
    if (space == Space::kArena || space == Space::kOutput)
      return error(Code::kCorrupt, task(touches.front().record), ": reads ", slot(root),
                   ", which no task writes");
    return {};
  }
  for (size_t later = 1; later < touches.size(); ++later)
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const Touch& a = touches[earlier];
      const Touch& b = touches[later];
      if (!a.writes() && !b.writes()) continue;
      if (a.record == b.record && a.mode == b.mode && !a.writes()) continue;
      if (!overlaps(a.region, b.region)) continue;
      if (a.mode == Mode::kWrite && b.mode == Mode::kWrite)
        return error(Code::kCorrupt, task(b.record), ": writes elements of ", slot(root), " that ",
                     task(a.record), " writes too");
      if (a.record == b.record)
        return error(Code::kCorrupt, task(b.record), ": reads elements of ", slot(root),
                     " that it writes");
      if (!clocks_.ordered(a.record, b.record))
        return error(Code::kCorrupt, task(b.record), ": is not ordered after ", task(a.record),
                     ", and both touch ", slot(root));
      const bool stale = b.mode == Mode::kReadWrite && a.mode == Mode::kRead;
      if (stale)
        return error(Code::kCorrupt, task(a.record), ": reads ", slot(root), " before ",
                     task(b.record), " changes it in place");
      if (b.mode == Mode::kWrite)
        return error(Code::kCorrupt, task(a.record), ": uses elements of ", slot(root), " before ",
                     task(b.record), " writes them");
    }
  return check_reads(touches, root);
}

Result<void> Verifier::check_reads(std::span<const Touch> touches, uint32_t root) const {
  const Space space = program_.slots[root].space;
  if (space == Space::kInput || space == Space::kWeight || space == Space::kState) return {};
  const int64_t total = total_elements(program_.slots[root]);
  int64_t written_in_all = 0;
  std::vector<uint32_t> writers(clocks_.n_queues(), 0);  // the last place in each queue that writes
  for (const Touch& t : touches) {
    if (t.mode != Mode::kWrite) continue;
    written_in_all += t.region.count();
    const Position at = clocks_.position(t.record);
    writers[at.queue] = std::max(writers[at.queue], at.place + 1);
  }
  for (const Touch& reader : touches) {
    if (reader.mode == Mode::kWrite) continue;
    const uint32_t* clock = clocks_.clock(reader.record);
    bool all_before = written_in_all == total;
    for (size_t q = 0; q < writers.size(); ++q) all_before = all_before && clock[q] >= writers[q];
    if (all_before) continue;
    int64_t covered = 0;
    for (const Touch& writer : touches)
      if (writer.mode == Mode::kWrite && writer.region.exact &&
          clocks_.ordered(writer.record, reader.record))
        covered += common_count(writer.region, reader.region);
    if (covered < reader.region.count())
      return error(Code::kCorrupt, task(reader.record), ": reads ", reader.region.count(),
                   " elements of ", slot(root), ", of which ", covered, " are written before it");
  }
  return {};
}

/// When the users of roots run: by root and queue, the last place that one has, and what is over
/// before any of them starts.
class Spans {
 public:
  Spans(const StorageMap& map, const Clocks& clocks)
      : n_queues_(clocks.n_queues()), row_of_(map.roots().empty() ? 0 : map.roots().back() + 1) {
    last_.resize(map.roots().size() * n_queues_, 0);
    before_.resize(map.roots().size() * n_queues_, std::numeric_limits<uint32_t>::max());
    for (size_t row = 0; row < map.roots().size(); ++row) {
      uint32_t *last = &last_[row * n_queues_], *before = &before_[row * n_queues_];
      row_of_[map.roots()[row]] = row;
      for (const Touch& t : map.touches(map.roots()[row])) {
        const Position at = clocks.position(t.record);
        const uint32_t* clock = clocks.clock(t.record);
        last[at.queue] = std::max(last[at.queue], at.place + 1);
        for (size_t q = 0; q < n_queues_; ++q) before[q] = std::min(before[q], clock[q]);
      }
    }
  }

  /// All users of `earlier` are over before any of `later` starts.
  bool follows(uint32_t earlier, uint32_t later) const {
    const uint32_t* last = &last_[row_of_[earlier] * n_queues_];
    const uint32_t* before = &before_[row_of_[later] * n_queues_];
    for (size_t q = 0; q < n_queues_; ++q)
      if (before[q] < last[q]) return false;
    return true;
  }

 private:
  size_t n_queues_;
  std::vector<size_t> row_of_;  // by root
  std::vector<uint32_t> last_, before_;
};

/// Storages that share bytes are used one after the other: all users of one are over before any of
/// the other starts.
Result<void> Verifier::check_reuse(const StorageMap& map) const {
  if (map.overlapping().empty()) return {};
  const Spans spans(map, clocks_);
  for (const auto& [x, y] : map.overlapping()) {
    if (spans.follows(x, y) || spans.follows(y, x)) continue;
    return error(Code::kCorrupt, slot(x), " and ", slot(y),
                 " share bytes of the arena and are in use together: ",
                 task(map.touches(x).front().record), " and ", task(map.touches(y).front().record));
  }
  return {};
}

Result<void> Verifier::check_outputs(const StorageMap& map) const {
  for (size_t i = 0; i < program_.slots.size(); ++i) {
    const SlotInfo& s = program_.slots[i];
    if (s.space != Space::kOutput || s.is_view() || s.count() == 0) continue;
    int64_t written = 0;
    for (const Touch& t : map.touches(i))
      if (t.mode == Mode::kWrite && t.region.exact) written += t.region.count();
    if (written != s.count())
      return error(Code::kCorrupt, "output ", slot(i), ": ", written, " of ", s.count(),
                   " elements are written");
  }
  return {};
}

}  // namespace

Result<void> verify(const Program& program) { return Verifier(program).run(); }

}  // namespace tw::task
