// Places arena storage: first fit over life times, largest first. Life times are counted in seq, so
// that the result holds for any number of workers; the waits that make it safe across queues are
// derived afterwards.
#include <algorithm>
#include <limits>

#include "task/program.h"

namespace tw::task {
namespace {

constexpr int64_t kAlignment = 64;

struct Life {
  SlotId root;
  uint32_t first = std::numeric_limits<uint32_t>::max();
  uint32_t last = 0;
  int64_t bytes = 0;
  int64_t offset = 0;
};

/// One life a used arena root, in slot order.
std::vector<Life> life_times(const Program& program) {
  std::vector<Life> by_slot(program.slots.size());
  for (const Record& record : program.records)
    for (const SlotId id : record.operands) {
      if (id == kNoSlot) continue;
      Life& life = by_slot[index(program.slot(id).root)];
      life.first = std::min(life.first, record.seq);
      life.last = std::max(life.last, record.seq);
    }
  std::vector<Life> used;
  for (size_t i = 0; i < by_slot.size(); ++i) {
    const SlotInfo& slot = program.slots[i];
    if (slot.space != Space::kArena || index(slot.root) != i || by_slot[i].first > by_slot[i].last)
      continue;
    by_slot[i].root = slot.root;
    by_slot[i].bytes = (slot.storage_bytes + kAlignment - 1) / kAlignment * kAlignment;
    used.push_back(by_slot[i]);
  }
  return used;
}

/// The lowest offset at which `life` meets no placed neighbour that is alive with it. `placed` is
/// ordered by offset.
int64_t lowest_gap(const std::vector<Life>& placed, const Life& life) {
  int64_t offset = 0;
  for (const Life& other : placed) {
    if (other.last < life.first || other.first > life.last) continue;
    if (other.offset >= offset + life.bytes) break;
    offset = std::max(offset, other.offset + other.bytes);
  }
  return offset;
}

}  // namespace

Result<void> plan_memory(Program& program) {
  std::vector<Life> lives = life_times(program);
  std::stable_sort(lives.begin(), lives.end(),
                   [](const Life& a, const Life& b) { return a.bytes > b.bytes; });
  std::vector<Life> placed;  // by offset
  placed.reserve(lives.size());
  program.arena_bytes = 0;
  for (Life& life : lives) {
    life.offset = lowest_gap(placed, life);
    int64_t end = 0;
    if (__builtin_add_overflow(life.offset, life.bytes, &end))
      return error(Code::kOutOfMemory, "the arena passes 2^63 bytes");
    program.arena_bytes = std::max(program.arena_bytes, end);
    const auto at =
        std::upper_bound(placed.begin(), placed.end(), life,
                         [](const Life& a, const Life& b) { return a.offset < b.offset; });
    placed.insert(at, life);
    program.slots[index(life.root)].offset_bytes = life.offset;
  }
  return {};
}

int64_t liveness_lower_bound(const Program& program) {
  uint32_t last_seq = 0;
  for (const Record& record : program.records) last_seq = std::max(last_seq, record.seq);
  std::vector<int64_t> change(size_t{last_seq} + 2, 0);
  for (const Life& life : life_times(program)) {
    change[life.first] += life.bytes;
    change[size_t{life.last} + 1] -= life.bytes;
  }
  int64_t alive = 0, most = 0;
  for (const int64_t delta : change) most = std::max(most, alive += delta);
  return most;
}

}  // namespace tw::task
