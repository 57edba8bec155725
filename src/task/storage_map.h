// storage_map.h: what records touch, sorted by storage: the common ground of wait derivation and
// verification.
#pragma once

#include <memory>
#include <optional>

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
  /// `order` lists record indices by seq.
  StorageMap(const Program& program, const std::vector<uint32_t>& order);
  const std::vector<Touch>& touches(size_t root) const { return touches_[root]; }
  int64_t total(size_t root) const { return lattices_[root]->total(); }
  /// Roots that some record touches, ascending.
  const std::vector<uint32_t>& roots() const { return roots_; }
  /// Pairs of arena roots whose bytes overlap.
  const std::vector<std::pair<uint32_t, uint32_t>>& overlapping() const { return overlapping_; }

 private:
  std::vector<std::vector<Touch>> touches_;
  std::vector<std::unique_ptr<Lattice>> lattices_;
  std::vector<uint32_t> roots_;
  std::vector<std::pair<uint32_t, uint32_t>> overlapping_;
};

}  // namespace tw::task
