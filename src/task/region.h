// region.h: exact sets of a storage's elements, whatever view they were named through. All strides
// that a root's views use form a chain in which each divides the one before it (row-major views,
// slices, permutations, merged and split dims do); an element's linear index then has one digit a
// stride, and a box of any view is a short list of boxes of digits.
#pragma once

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

/// A union of disjoint digit boxes. Not exact: it may hold more elements than the access touches.
struct Region {
  std::vector<DigitBox> boxes;
  bool exact = true;
  int64_t count() const;
};

/// The digits of one root.
class Lattice {
 public:
  /// `views` are all slots whose root is this one, the root included.
  Lattice(const SlotInfo& root, const std::vector<const SlotInfo*>& views);
  /// The elements of `box` of `slot`, a view of this root of the root's dtype or another of equal
  /// size.
  Region region(const SlotInfo& slot, const Box& box) const;
  /// Elements of the whole storage.
  int64_t total() const { return total_; }

 private:
  Region hull(const SlotInfo& slot, const Box& box) const;
  /// Cuts the linear interval [begin, end) in units of stride `digit` into digit boxes and
  /// multiplies them onto `boxes`.
  bool add_range(std::vector<DigitBox>& boxes, size_t digit, int64_t begin, int64_t end) const;
  int64_t element_bytes_, total_;
  FixedList<int64_t, kMaxDigits> strides_;  // descending, the last is 1
  bool chain_ = true;
};

bool overlaps(const Region& a, const Region& b);
/// Elements in both; exact when both regions are.
int64_t common_count(const Region& a, const Region& b);

}  // namespace tw::task
