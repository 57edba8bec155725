#include "task/storage_map.h"

#include <algorithm>

namespace tw::task {
namespace {

/// Arena roots that share bytes: a sweep over their begins.
std::vector<std::pair<uint32_t, uint32_t>> find_overlaps(const Program& program,
                                                         const std::vector<uint32_t>& roots) {
  struct Extent {
    int64_t begin = 0, end = 0;
    uint32_t root = 0;
  };
  std::vector<Extent> arena, open;
  for (const uint32_t root : roots) {
    const SlotInfo& slot = program.slots[root];
    if (slot.space == Space::kArena && slot.storage_bytes > 0)
      arena.push_back({slot.offset_bytes, slot.offset_bytes + slot.storage_bytes, root});
  }
  std::sort(arena.begin(), arena.end(), [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.root) < std::pair(b.begin, b.root);
  });
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const Extent& next : arena) {
    std::erase_if(open, [&](const Extent& other) { return other.end <= next.begin; });
    for (const Extent& other : open) pairs.emplace_back(other.root, next.root);
    open.push_back(next);
  }
  return pairs;
}

}  // namespace

StorageMap::StorageMap(const Program& program, std::span<const uint32_t> order,
                       std::span<const int64_t> n_tiles)
    : first_(program.slots.size() + 1, 0) {
  const std::vector<Named> all = name_touches(program, order, n_tiles);
  for (const Named& named : all) ++first_[index(program.slot(named.slot).root) + 1];
  for (size_t root = 0; root + 1 < first_.size(); ++root) {
    if (first_[root + 1] > 0) roots_.push_back(static_cast<uint32_t>(root));
    first_[root + 1] += first_[root];
  }
  std::vector<Named> sorted(all.size());
  std::vector<uint32_t> next = first_;
  for (const Named& named : all) sorted[next[index(program.slot(named.slot).root)]++] = named;
  touches_.resize(all.size());
  for (const uint32_t root : roots_)
    make_regions(program, root,
                 std::span(sorted).subspan(first_[root], first_[root + 1] - first_[root]));
  overlapping_ = find_overlaps(program, roots_);
}

/// Every access that touches something, in seq order.
std::vector<StorageMap::Named> StorageMap::name_touches(const Program& program,
                                                        std::span<const uint32_t> order,
                                                        std::span<const int64_t> n_tiles) {
  std::vector<Named> all;
  all.reserve(order.size() * 5);  // operands of a usual task
  AccessList list;
  for (const uint32_t r : order) {
    const Record& record = program.records[r];
    if (is_whole_op(record, n_tiles[r])) {
      const std::span<const Role> roles = operand_roles(record.kind);
      for (size_t i = 0; i < roles.size(); ++i)
        if (record.operands[i] != kNoSlot && program.slot(record.operands[i]).count() > 0)
          all.push_back({r, roles[i].mode, record.operands[i], kWhole});
      continue;
    }
    list.clear();
    access(record, program.slots, list);
    for (const Access& one : list) {
      if (one.box.count() == 0) continue;
      all.push_back({r, one.mode, one.slot, static_cast<uint32_t>(boxes_.size())});
      boxes_.push_back(one.box);
    }
  }
  return all;
}

/// Intervals where every touch of the root is one, digits else.
void StorageMap::make_regions(const Program& program, size_t root, std::span<const Named> named) {
  const SlotInfo& storage = program.slots[root];
  const auto box_of = [&](const Named& n) { return n.box != kWhole ? &boxes_[n.box] : nullptr; };
  Touch* touches = &touches_[first_[root]];
  bool intervals = true;
  for (size_t i = 0; i < named.size(); ++i) {
    touches[i].record = named[i].record;
    touches[i].mode = named[i].mode;
    auto interval = find_interval(storage, program.slot(named[i].slot), box_of(named[i]));
    intervals = interval.has_value();
    if (!intervals) break;
    touches[i].region = std::move(*interval);
  }
  if (intervals) return;
  std::vector<const SlotInfo*> views;
  for (const Named& n : named) views.push_back(&program.slot(n.slot));
  const Lattice lattice(storage, views);
  for (size_t i = 0; i < named.size(); ++i)
    touches[i] = {named[i].record, named[i].mode,
                  lattice.region(program.slot(named[i].slot), box_of(named[i]))};
}

}  // namespace tw::task
