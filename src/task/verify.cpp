// The proof that a program computes what its tasks say on every legal interleaving. Rules, in the
// order they are checked:
//   structure   queues hold each record once and ascend in seq, seq is unique; slots lie inside
//   their storage, roots inside their
//               space; kinds, operands and fields make sense (validate); tile ranges lie inside the
//               op
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
#include <map>

#include "base/tensor.h"
#include "task/happens_before.h"
#include "task/storage_map.h"

namespace tw::task {
namespace {

/// The bytes that a slot's elements take, from its root's start. Strides and offsets may be any
/// numbers here, so the sums are exact and what passes 2^63 is cut to it.
ByteRange exact_range(const SlotInfo& slot) {
  if (slot.count() == 0) return {};
  using Wide = __int128;
  const int64_t element = size_bytes(slot.dtype);
  Wide low = slot.offset_in_root(), high = low + element;
  for (int d = 0; d < slot.rank; ++d) {
    const Wide reach = static_cast<Wide>(slot.dims[d] - 1) * slot.strides[d] * element;
    (reach < 0 ? low : high) += reach;
  }
  constexpr Wide kLeast = std::numeric_limits<int64_t>::min();
  constexpr Wide kLargest = std::numeric_limits<int64_t>::max();
  return {static_cast<int64_t>(std::max(low, kLeast)),
          static_cast<int64_t>(std::min(high, kLargest))};
}

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program), clocks_(0, 1) {}

  Result<void> run() {
    TRY(check_slots());
    TRY(check_queues());
    TRY(check_records());
    order_ = seq_order(program_);
    clocks_ = TRY(known_order(program_, order_));
    TRY(check_tiles());
    const StorageMap map(program_, order_);
    for (const uint32_t root : map.roots()) TRY(check_root(map, root));
    TRY(check_reuse(map));
    return check_outputs(map);
  }

 private:
  Result<void> check_slots() const;
  Result<void> check_queues() const;
  Result<void> check_records() const;
  Result<void> check_tiles() const;
  Result<void> check_root(const StorageMap& map, uint32_t root) const;
  Result<void> check_reads(const std::vector<Touch>& touches, uint32_t root, int64_t total) const;
  Result<void> check_reuse(const StorageMap& map) const;
  Result<void> check_outputs(const StorageMap& map) const;

  std::string task(uint32_t record) const { return describe_task(program_, record); }
  std::string slot(uint32_t id) const {
    return id < program_.slot_names.size() && !program_.slot_names[id].empty()
               ? cat("'", program_.slot_names[id], "'")
               : cat("slot ", id);
  }

  const Program& program_;
  std::vector<uint32_t> order_;
  Clocks clocks_;
};

Result<void> Verifier::check_slots() const {
  for (size_t i = 0; i < program_.slots.size(); ++i) {
    const SlotInfo& s = program_.slots[i];
    const auto fail = [&](const auto&... why) {
      return error(Code::kCorrupt, slot(static_cast<uint32_t>(i)), ": ", why...);
    };
    if (static_cast<int>(s.space) > static_cast<int>(Space::kState) ||
        static_cast<int>(s.dtype) >= kDTypeCount || s.rank > kMaxRank ||
        static_cast<int>(s.layout) > static_cast<int>(Layout::kPanels))
      return fail("unknown space, type, layout or rank");
    if (index(s.root) >= program_.slots.size())
      return fail("root ", index(s.root), " is not a slot");
    const SlotInfo& root = program_.slots[index(s.root)];
    if (index(root.root) != index(s.root) || s.is_view() == (index(s.root) == i))
      return fail("is neither storage nor a view of storage");
    if (s.space != root.space || s.place != root.place || s.immutable() != root.immutable())
      return fail("differs from its root in space, place or mutability");
    const Result<int64_t> bytes = checked_bytes(s.dtype, s.shape());
    if (!bytes.ok()) return fail(bytes.error().message);
    if (s.layout == Layout::kStrided) {
      const ByteRange range = exact_range(s);
      if (range.begin < 0 || range.end > root.storage_bytes)
        return fail("bytes ", range.begin, " to ", range.end, " lie outside the storage of ",
                    root.storage_bytes);
    }
    // The caller binds exactly the tensor: a root that claims more would reach past it.
    if ((s.space == Space::kInput || s.space == Space::kOutput) && !s.is_view() &&
        (s.offset_bytes != 0 || s.storage_bytes > bytes.value()))
      return fail("claims ", s.storage_bytes, " bytes at ", s.offset_bytes, ", expected ",
                  bytes.value(), " at 0");
    const bool bad_space = s.space == Space::kArena && !s.is_view() &&
                           (s.offset_bytes < 0 || s.offset_bytes % 64 != 0 || s.storage_bytes < 0 ||
                            s.storage_bytes > program_.arena_bytes ||
                            s.offset_bytes > program_.arena_bytes - s.storage_bytes);
    const bool used =
        bad_space &&
        std::any_of(program_.records.begin(), program_.records.end(), [&](const Record& r) {
          return std::any_of(std::begin(r.operands), std::end(r.operands), [&](SlotId id) {
            return index(id) < program_.slots.size() && index(program_.slot(id).root) == i;
          });
        });
    if (used)
      return fail("offset ", s.offset_bytes, " and ", s.storage_bytes,
                  " bytes do not fit the arena of ", program_.arena_bytes);
  }
  return {};
}

Result<void> Verifier::check_queues() const {
  uint32_t next = 0;
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

Result<void> Verifier::check_records() const {
  for (uint32_t i = 0; i < program_.records.size(); ++i) {
    const Record& record = program_.records[i];
    TRY(validate(record, program_.slots, program_.side).in(task(i)));
    if (record.tile_begin > record.tile_end || record.tile_end > n_tiles(record, program_.slots))
      return error(Code::kCorrupt, task(i), ": the op has ", n_tiles(record, program_.slots),
                   " tiles");
    for (const Operand& operand : operands(record)) {
      const SlotInfo& s = program_.slot(operand.slot);
      if (operand.mode != Mode::kRead && (s.immutable() || s.space == Space::kInput))
        return error(Code::kCorrupt, task(i), ": writes ",
                     slot(static_cast<uint32_t>(index(operand.slot))), ", which may only be read");
    }
  }
  return {};
}

Result<void> Verifier::check_tiles() const {
  // Records of one op have equal operands and payload; their ranges must add up to the op's tiles
  // without overlap.
  std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> ranges;
  std::map<uint32_t, uint32_t> first;
  for (const uint32_t r : order_) {
    const Record& record = program_.records[r];
    if (record.kind == Tasks::number_of<JoinTask>()) continue;
    const auto [it, inserted] = first.try_emplace(record.op, r);
    const Record& model = program_.records[it->second];
    if (!inserted && (record.kind != model.kind ||
                      std::memcmp(record.payload, model.payload, kPayloadBytes) != 0 ||
                      std::memcmp(record.operands, model.operands, sizeof record.operands) != 0))
      return error(Code::kCorrupt, task(r), ": differs from ", task(it->second),
                   ", which is of the same op");
    ranges[record.op].emplace_back(record.tile_begin, record.tile_end);
  }
  for (auto& [op, list] : ranges) {
    std::sort(list.begin(), list.end());
    uint32_t next = 0;
    for (const auto& [begin, end] : list) {
      if (begin != next)
        return error(Code::kCorrupt, task(first[op]), ": tile ", next, " of the op is done ",
                     begin < next ? "twice" : "by no task");
      next = end;
    }
    const int64_t total = n_tiles(program_.records[first[op]], program_.slots);
    if (next != total)
      return error(Code::kCorrupt, task(first[op]), ": tiles from ", next, " to ", total,
                   " are done by no task");
  }
  return {};
}

Result<void> Verifier::check_root(const StorageMap& map, uint32_t root) const {
  const auto& touches = map.touches(root);
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
  return check_reads(touches, root, map.total(root));
}

Result<void> Verifier::check_reads(const std::vector<Touch>& touches, uint32_t root,
                                   int64_t total) const {
  const Space space = program_.slots[root].space;
  if (space == Space::kInput || space == Space::kWeight || space == Space::kState) return {};
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

/// When the users of a root run: the last place in each queue that one has, and what is over in
/// each queue before any of them starts.
struct Span {
  std::vector<uint32_t> last, before;
};

/// Storages that share bytes are used one after the other: all users of one are over before any of
/// the other starts.
Result<void> Verifier::check_reuse(const StorageMap& map) const {
  const size_t n_queues = clocks_.n_queues();
  std::vector<Span> spans(program_.slots.size());
  const auto span_of = [&](uint32_t root) -> const Span& {
    Span& span = spans[root];
    if (!span.last.empty()) return span;
    span.last.assign(n_queues, 0);
    span.before.assign(n_queues, 0xffffffffU);
    for (const Touch& t : map.touches(root)) {
      const Position at = clocks_.position(t.record);
      span.last[at.queue] = std::max(span.last[at.queue], at.place + 1);
      for (size_t q = 0; q < n_queues; ++q)
        span.before[q] = std::min(span.before[q], clocks_.clock(t.record)[q]);
    }
    return span;
  };
  const auto follows = [&](const Span& earlier, const Span& later) {
    for (size_t q = 0; q < n_queues; ++q)
      if (later.before[q] < earlier.last[q]) return false;
    return true;
  };
  for (const auto& [x, y] : map.overlapping()) {
    const Span &first = span_of(x), &second = span_of(y);
    if (follows(first, second) || follows(second, first)) continue;
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
      return error(Code::kCorrupt, "output ", slot(static_cast<uint32_t>(i)), ": ", written, " of ",
                   s.count(), " elements are written");
  }
  return {};
}

}  // namespace

Result<void> verify(const Program& program) { return Verifier(program).run(); }

}  // namespace tw::task
