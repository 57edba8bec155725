#include "task/storage_map.h"

#include <algorithm>

namespace tw::task {
namespace {

/// Arena roots that share bytes: a sweep over their begins.
std::vector<std::pair<uint32_t, uint32_t>> find_overlaps(const Program& program,
                                                         const std::vector<uint32_t>& roots) {
  std::vector<uint32_t> arena;
  for (const uint32_t root : roots)
    if (program.slots[root].space == Space::kArena && program.slots[root].storage_bytes > 0)
      arena.push_back(root);
  std::sort(arena.begin(), arena.end(), [&](uint32_t a, uint32_t b) {
    return program.slots[a].offset_bytes < program.slots[b].offset_bytes;
  });
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::vector<uint32_t> open;
  for (const uint32_t root : arena) {
    const int64_t begin = program.slots[root].offset_bytes;
    std::erase_if(open, [&](uint32_t o) {
      return program.slots[o].offset_bytes + program.slots[o].storage_bytes <= begin;
    });
    for (const uint32_t other : open) pairs.emplace_back(other, root);
    open.push_back(root);
  }
  return pairs;
}

}  // namespace

StorageMap::StorageMap(const Program& program, const std::vector<uint32_t>& order)
    : touches_(program.slots.size()), lattices_(program.slots.size()) {
  std::vector<std::vector<const SlotInfo*>> views(program.slots.size());
  for (const SlotInfo& slot : program.slots) views[index(slot.root)].push_back(&slot);
  AccessList list;
  for (const uint32_t r : order) {
    list.clear();
    access(program.records[r], program.slots, list);
    for (const Access& one : list) {
      const SlotInfo& slot = program.slot(one.slot);
      const size_t root = index(slot.root);
      if (!lattices_[root]) {
        lattices_[root] = std::make_unique<Lattice>(program.slots[root], views[root]);
        roots_.push_back(static_cast<uint32_t>(root));
      }
      Region region = lattices_[root]->region(slot, one.box);
      if (!region.boxes.empty()) touches_[root].push_back({r, one.mode, std::move(region)});
    }
  }
  std::sort(roots_.begin(), roots_.end());
  overlapping_ = find_overlaps(program, roots_);
}

}  // namespace tw::task
