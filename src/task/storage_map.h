// storage_map.h: what records touch, sorted by storage: the common ground of wait derivation and
// verification.
#pragma once

#include <span>

#include "task/program.h"
#include "task/region.h"

namespace tw::task {

/// One access of one record, as a set of elements of its root.
struct Touch {
  uint32_t record = 0;
  Mode mode = Mode::kRead;
  Region region;
  bool writes() const { return mode != Mode::kRead; }
};

/// The touches of each root (index: slot id of the root), in seq order.
class StorageMap {
 public:
  /// `order` lists record indices by seq; `n_tiles` is, by record, how many tiles its op has.
  StorageMap(const Program& program, std::span<const uint32_t> order,
             std::span<const int64_t> n_tiles);
  std::span<const Touch> touches(size_t root) const {
    return {touches_.data() + first_[root], first_[root + 1] - first_[root]};
  }
  /// Roots that some record touches, ascending.
  const std::vector<uint32_t>& roots() const { return roots_; }
  /// Pairs of arena roots whose bytes overlap.
  const std::vector<std::pair<uint32_t, uint32_t>>& overlapping() const { return overlapping_; }

 private:
  /// A touch and how it was named.
  struct Named {
    uint32_t record = 0;
    Mode mode = Mode::kRead;
    SlotId slot = kNoSlot;
    uint32_t box = kWhole;  // into boxes_
  };
  static constexpr uint32_t kWhole = 0xffffffffU;

  std::vector<Named> name_touches(const Program& program, std::span<const uint32_t> order,
                                  std::span<const int64_t> n_tiles);
  void make_regions(const Program& program, size_t root, std::span<const Named> named);

  std::vector<Box> boxes_;
  std::vector<Touch> touches_;   // by root
  std::vector<uint32_t> first_;  // by root: the first of its touches; one more at the end
  std::vector<uint32_t> roots_;
  std::vector<std::pair<uint32_t, uint32_t>> overlapping_;
};

}  // namespace tw::task
