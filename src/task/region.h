// region.h: exact sets of a storage's elements, whatever view they were named through. Most are an
// interval of linear indices. Where one is not, all regions of its root are cut by digits: the
// strides that its views use form a chain in which each divides the one before it (row-major views,
// slices, permutations, merged and split dims do), so an element's linear index has one digit a
// stride, and a box of any view is a short list of boxes of digits.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "task/access.h"
#include "task/kinds.h"

namespace tw::task {

inline constexpr size_t kMaxDigits = 10;

/// begin[i] <= digit i < end[i], most significant digit first.
struct DigitBox {
  FixedList<int64_t, kMaxDigits> begin, end;
  int64_t count() const;
};

/// The interval [begin, end) of linear indices or, when there are boxes, these disjoint parts of
/// it. Not exact: it may hold more elements than the access touches. Regions that are compared are
/// of one root, and all of them have boxes or none has.
struct Region {
  int64_t begin = 0, end = 0;
  std::vector<DigitBox> boxes;
  bool exact = true;
  bool empty() const { return end <= begin; }
  int64_t count() const;
};

/// The elements of a root that `box` of its view `slot` touches; without a box: that the whole slot
/// touches. Nothing when they are no interval, and digits may tell them exactly.
std::optional<Region> find_interval(const SlotInfo& root, const SlotInfo& slot, const Box* box);

/// The digits of one root.
class Lattice {
 public:
  /// `views` are those slots of this root whose regions will be asked for.
  Lattice(const SlotInfo& root, std::span<const SlotInfo* const> views);
  /// What find_interval says, always as boxes.
  Region region(const SlotInfo& slot, const Box* box) const;

 private:
  /// Cuts the linear interval [begin, end) in units of stride `digit` into digit boxes and
  /// multiplies them onto `boxes`.
  bool add_range(std::vector<DigitBox>& boxes, size_t digit, int64_t begin, int64_t end) const;
  DigitBox digits(int64_t element) const;
  /// An interval as boxes.
  Region cut(Region interval) const;
  const SlotInfo& root_;
  FixedList<int64_t, kMaxDigits> strides_;  // descending, the last is 1
  bool chain_ = true;
};

/// Elements of the whole storage; opaque storage counts as one element.
int64_t total_elements(const SlotInfo& root);
bool overlaps(const Region& a, const Region& b);
/// Elements in both; exact when both regions are.
int64_t common_count(const Region& a, const Region& b);

}  // namespace tw::task
